import { lstatSync, type Stats } from "node:fs";
import { chmod } from "node:fs/promises";
import { SPECIAL_KINDS, type SpecialFile, type SpecialKind } from "../../../domain/salvage.ts";
import { runCaptured } from "../run-captured.ts";
import { type BytePath, bytePathOf, bytesOf, parentOf, placeOf, textOf } from "./byte-path.ts";
import { pathsLike } from "./ignored-files.ts";
import { realFolders } from "./real-folders.ts";
import { makeFolder } from "./set-aside.ts";

/** A pipe, a socket or a device of a working tree, which git passes over (2.39.5). */
export interface FoundSpecial {
  readonly path: BytePath;
  readonly kind: SpecialKind;
  /** As `chmod` takes them. */
  readonly permissions: number;
}

const MAKE_TIMEOUT_MS = 10_000;

/** Those among paths that were told as text, sorted. */
export function specialPaths(root: string, paths: readonly string[]): readonly BytePath[] {
  const like = paths.flatMap((path) => pathsLike(root, path));
  return specialsAt(root, [...new Set(like)]).map(({ path }) => path);
}

/** What is at each of the paths that is neither file nor folder nor link, and reached through no link; sorted. */
export function specialsAt(root: string, paths: readonly BytePath[]): readonly FoundSpecial[] {
  const folders = realFolders(root);
  return [...paths].sort().flatMap((path) => {
    const found = lstatSync(placeOf(root, path), { throwIfNoEntry: false });
    const kind = found === undefined ? undefined : kindOf(found);
    if (found === undefined || kind === undefined || !folders.has(parentOf(path))) return [];
    return [{ path, kind, permissions: found.mode & 0o7777 }];
  });
}

function kindOf(found: Stats): SpecialKind | undefined {
  if (found.isFIFO()) return "pipe";
  if (found.isSocket()) return "socket";
  return found.isBlockDevice() || found.isCharacterDevice() ? "device" : undefined;
}

/** As bytes: kind, permissions and path of each, ending with NUL. */
export function encodeSpecials(specials: readonly FoundSpecial[]): Buffer {
  const lines = specials.map(({ kind, permissions, path }) => `${kind} ${permissions.toString(8)} ${path}\0`);
  return bytesOf(lines.join(""));
}

/** Parses what `encodeSpecials` wrote. @throws Error on anything else. */
export function parseSpecials(text: string): readonly FoundSpecial[] {
  const lines = text.split("\0").slice(0, -1);
  return lines.map((line) => {
    const [, word, mode = "", path = ""] = /^([a-z]+) ([0-7]{1,4}) (.+)$/s.exec(line) ?? [];
    const kind = SPECIAL_KINDS.find((known) => known === word);
    if (kind === undefined) throw new Error(`a special file of another form: ${JSON.stringify(line)}`);
    return { path, kind, permissions: Number.parseInt(mode, 8) };
  });
}

/** For a person. */
export function toSpecialFile({ path, kind }: FoundSpecial): SpecialFile {
  return { path: textOf(path), kind };
}

/**
 * Makes the pipes again that are not there, empty; what has their place stays. Idempotent.
 *
 * @returns what is not there afterwards as it was: nobody can make a socket or a device again for its owner.
 */
export async function putSpecials(
  root: string,
  specials: readonly FoundSpecial[],
  env: Readonly<Record<string, string>>,
): Promise<readonly SpecialFile[]> {
  const missing: SpecialFile[] = [];
  for (const special of specials) {
    const [there] = specialsAt(root, [special.path]);
    if (there?.kind === special.kind) continue;
    if (!(await makePipe(root, special, env))) missing.push(toSpecialFile(special));
  }
  return missing;
}

async function makePipe(
  root: string,
  { path, kind, permissions }: FoundSpecial,
  env: Readonly<Record<string, string>>,
): Promise<boolean> {
  const place = placeOf(root, path);
  const isText = bytePathOf(textOf(path)) === path;
  if (kind !== "pipe" || !isText || lstatSync(place, { throwIfNoEntry: false }) !== undefined) return false;
  try {
    await makeFolder(root, parentOf(path));
    const run = { program: "mkfifo", args: ["-m", "600", "--", place.toString()], env, input: undefined };
    const made = await runCaptured({ ...run, timeoutMs: MAKE_TIMEOUT_MS, maxBytes: 4096 });
    if (made.kind !== "ended" || made.exitCode !== 0) return false;
    await chmod(place, permissions);
    return true;
  } catch {
    return false;
  }
}
