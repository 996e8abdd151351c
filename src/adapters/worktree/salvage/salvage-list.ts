import { AoError } from "../../../domain/errors.ts";
import {
  parseSalvageRef,
  type Salvage,
  type SalvageContent,
  type SalvagedFile,
  type SalvagedKind,
} from "../../../domain/salvage.ts";
import { gitFailed } from "../git-failure.ts";
import { removeRef } from "./ao-commit.ts";
import { type BytePath, splitNul, textOf } from "./byte-path.ts";
import type { ObjectFormat } from "./index-file.ts";
import { treeOf } from "./is-work.ts";
import { LAYOUT } from "./layout.ts";
import { operationsUnderWay } from "./operations.ts";
import type { Plumbing } from "./plumbing.ts";
import { retireNumber } from "./salvage-numbers.ts";
import { type FoundSalvage, findSalvages } from "./salvage-refs.ts";
import { readSavedState } from "./saved-state.ts";
import type { TreeEntry } from "./scan-files.ts";
import { toSpecialFile } from "./special-files.ts";
import { fromTreeName } from "./tree-names.ts";
import { readTree } from "./trees.ts";

/** The salvage of exactly this ref. @throws AoError salvage_not_found, git_failed */
export async function findSalvage(plumbing: Plumbing, ref: string): Promise<FoundSalvage> {
  const named = parseSalvageRef(ref);
  const all = named === undefined ? [] : await findSalvages(plumbing, named.ref);
  const found = all.find((one) => one.ref === named?.ref);
  if (found !== undefined) return found;
  throw new AoError("salvage_not_found", `there is no salvage ${ref}`, {
    hint: "ao salvage list",
    details: { ref },
  });
}

/** The salvage without what its commit is made of. */
export function plainSalvage({ tree: _tree, parents: _parents, ...salvage }: FoundSalvage): Salvage {
  return salvage;
}

/** `Snapshots.show`. */
export async function showSalvage(
  plumbing: Plumbing,
  format: ObjectFormat,
  ref: string,
): Promise<SalvageContent> {
  const found = await findSalvage(plumbing, ref);
  const { commit, head, parents } = found;
  const [saved, kinds] = await Promise.all([
    readSavedState(plumbing, commit),
    kindsOf(plumbing, commit, await treeOf(plumbing, format, head.commit)),
  ]);
  const ignored = new Set(saved.ignored);
  const entries = [...kinds].map(([path, kind]) => ({ path, kind, entry: saved.files.get(path) }));
  const sizes = await sizesOf(
    plumbing,
    entries.flatMap(({ entry }) => entry ?? []),
  );
  const files = entries.map(
    ({ path, kind, entry }): SalvagedFile => ({
      path: textOf(path),
      kind: kind === "untracked" && ignored.has(path) ? "ignored" : kind,
      bytes: entry === undefined ? null : (sizes.get(entry.oid) ?? null),
    }),
  );
  return {
    ...plainSalvage(found),
    files: files.sort((one, other) => (one.path < other.path ? -1 : 1)),
    special: saved.special.map(toSpecialFile),
    operations: operationsUnderWay([...saved.git.keys()]),
    commits: parents.filter((parent) => parent !== head.commit),
  };
}

/** What became of each file that is not as HEAD has it. The later word stands. */
async function kindsOf(
  plumbing: Plumbing,
  commit: string,
  head: string,
): Promise<ReadonlyMap<BytePath, SalvagedKind>> {
  const [staged, changed, conflicted] = await Promise.all([
    compare(plumbing, head, `${commit}:${LAYOUT.staged}`),
    compare(plumbing, `${commit}:${LAYOUT.staged}`, `${commit}:${LAYOUT.files}`),
    conflictedPaths(plumbing, commit),
  ]);
  const kinds = new Map<BytePath, SalvagedKind>();
  for (const [path, status] of staged) kinds.set(path, status === "D" ? "deleted" : "staged");
  for (const [path, status] of changed) kinds.set(path, CHANGES[status] ?? "changed");
  for (const path of conflicted) kinds.set(path, "conflicted");
  return kinds;
}

/** By git's letters (git-diff-tree(1), `--name-status`). */
const CHANGES: Readonly<Record<string, SalvagedKind>> = { A: "untracked", D: "deleted" };

async function compare(
  plumbing: Plumbing,
  one: string,
  other: string,
): Promise<readonly (readonly [BytePath, string])[]> {
  const args = ["diff-tree", "-r", "-z", "--name-status", "--no-renames", one, other];
  const fields = splitNul(await plumbing.tell("read what is kept", args));
  const pairs: (readonly [BytePath, string])[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [status = "", name = ""] = fields.slice(at, at + 2);
    pairs.push([fromTreeName(name), status]);
  }
  return pairs;
}

/** `stages/<n>/<path>` */
async function conflictedPaths(plumbing: Plumbing, commit: string): Promise<readonly BytePath[]> {
  const { exitCode } = await plumbing.ask(["rev-parse", "--verify", "--quiet", `${commit}:${LAYOUT.stages}`]);
  if (exitCode !== 0) return [];
  const names = await readTree(plumbing, `${commit}:${LAYOUT.stages}`);
  return [...new Set([...names.keys()].map((name) => name.slice(2)))];
}

async function sizesOf(
  plumbing: Plumbing,
  entries: readonly TreeEntry[],
): Promise<ReadonlyMap<string, number>> {
  const oids = [...new Set(entries.filter(({ mode }) => mode !== "160000").map(({ oid }) => oid))];
  if (oids.length === 0) return new Map();
  const args = ["cat-file", "--batch-check=%(objectsize)"];
  const sizes = await plumbing.tell("read sizes", args, oids.map((oid) => `${oid}\n`).join(""));
  return new Map(sizes.split("\n").flatMap((size, at) => pair(oids[at], size)));
}

function pair(oid: string | undefined, size: string): readonly (readonly [string, number])[] {
  return oid === undefined || !/^[0-9]+$/.test(size) ? [] : [[oid, Number(size)]];
}

/** `Snapshots.drop`. */
export async function dropSalvage(plumbing: Plumbing, ref: string): Promise<void> {
  const named = parseSalvageRef(ref);
  const all = named === undefined ? [] : await findSalvages(plumbing, named.ref);
  const found = all.find((one) => one.ref === named?.ref);
  if (found === undefined) return;
  await retireNumber(plumbing, found.sessionId, found.number);
  if (await removeRef(plumbing, found.ref, found.commit)) return;
  const left = await findSalvages(plumbing, found.ref);
  if (left.length > 0) throw gitFailed(`drop ${found.ref}`, "the ref is held or was changed meanwhile");
}
