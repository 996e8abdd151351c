import { randomUUID } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { isAoError } from "../../domain/errors.ts";
import { type BytePath, bytePathOf, bytesOf, placeOf, textOf } from "./salvage/byte-path.ts";
import type { Plumbing } from "./salvage/plumbing.ts";

/** A plain file of the index. */
export interface CheckedFile {
  readonly path: BytePath;
  readonly oid: string;
}

/** So much of the working tree is compared in one run of git. */
const BATCH_BYTES = 32 * 1024 * 1024;

/**
 * Those whose bytes are not what a checkout would write, by all that converts them on their way out. One of which
 * git cannot tell that counts: its content, or the program that converts it, is not there. Once git did not answer, as
 * when a filter hangs, it is not asked again, and all that is left counts.
 */
export async function unlikeCheckout(
  plumbing: Plumbing,
  root: string,
  files: readonly CheckedFile[],
): Promise<readonly BytePath[]> {
  const like = new Set<BytePath>();
  try {
    for (const batch of batchesOf(root, files)) {
      for await (const [file, given] of checkoutOf(plumbing, batch)) {
        if (isLike(root, file, given)) like.add(file.path);
      }
    }
  } catch (error) {
    if (!isAoError(error, "git_unavailable")) throw error;
  }
  return files.map(({ path }) => path).filter((path) => !like.has(path));
}

function batchesOf(root: string, files: readonly CheckedFile[]): readonly (readonly CheckedFile[])[] {
  const batches: CheckedFile[][] = [];
  let left = 0;
  for (const file of files) {
    const size = lstatSync(placeOf(root, file.path), { throwIfNoEntry: false })?.size ?? 0;
    if (batches.length === 0 || size > left) {
      batches.push([]);
      left = BATCH_BYTES;
    }
    batches.at(-1)?.push(file);
    left -= size;
  }
  return batches;
}

/** One that went meanwhile, or is too big to be read at once, is not. */
function isLike(root: string, { path }: CheckedFile, given: string | undefined): boolean {
  if (given === undefined) return false;
  try {
    return bytesOf(given).equals(readFileSync(placeOf(root, path)));
  } catch {
    return false;
  }
}

type Given = readonly [CheckedFile, string | undefined];

/** git stops at the first file it cannot convert; then each is asked for alone. */
async function* checkoutOf(plumbing: Plumbing, files: readonly CheckedFile[]): AsyncGenerator<Given> {
  const plain = files.filter(({ path }) => isOneLine(path));
  const together = await allAtOnce(plumbing, plain);
  yield* together;
  const asked = new Set(together.map(([file]) => file));
  for (const file of files.filter((one) => !asked.has(one))) {
    yield [file, await oneAlone(plumbing, file)];
  }
}

/** git takes blanks before a path, and a carriage return behind it, for no part of it. */
const isOneLine = (path: BytePath): boolean => !/^[ \t]|[\r\n]/.test(path);

/** The sizes that git tells are those before the conversion, so that a mark nobody knows parts the files. */
async function allAtOnce(plumbing: Plumbing, files: readonly CheckedFile[]): Promise<readonly Given[]> {
  if (files.length === 0) return [];
  const mark = randomUUID();
  const args = ["cat-file", "--filters", `--batch=${mark} %(objectname)`];
  const input = files.map(({ oid, path }) => `${oid} ${path}\n`).join("");
  const answer = await answerOf(plumbing, args, input);
  const parts = answer?.slice(0, -1).split(`${mark} `) ?? [];
  if (parts.length !== files.length + 1) return [];
  return files.map((file, at) => [file, contentIn(parts[at + 1] ?? "", file.oid, at + 1 < files.length)]);
}

/** Between two files is a line feed. */
function contentIn(part: string, oid: string, isFollowed: boolean): string | undefined {
  if (!part.startsWith(`${oid}\n`)) return undefined;
  return part.slice(oid.length + 1, isFollowed ? -1 : undefined);
}

/** What has no name as text git cannot be asked for. */
async function oneAlone(plumbing: Plumbing, { path, oid }: CheckedFile): Promise<string | undefined> {
  const name = textOf(path);
  if (bytePathOf(name) !== path) return undefined;
  return answerOf(plumbing, ["cat-file", "--filters", `--path=${name}`, oid]);
}

/** `undefined` when git could not, or wrote more than can be read at once. @throws AoError git_unavailable */
async function answerOf(
  plumbing: Plumbing,
  args: readonly string[],
  input?: string,
): Promise<string | undefined> {
  try {
    const { exitCode, stdout } = await plumbing.ask(args, input);
    return exitCode === 0 ? stdout : undefined;
  } catch (error) {
    if (isAoError(error, "git_unavailable") && error.details["why"] === "too_much") return undefined;
    throw error;
  }
}
