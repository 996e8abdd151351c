import type { HeadPosition } from "../../../domain/salvage.ts";
import type { Conflict } from "../../../ports/snapshots.ts";
import { gitFailed } from "../git-failure.ts";
import type { Plumbing } from "./plumbing.ts";

/** Why HEAD cannot be where it was; empty when it can. */
export async function headConflicts(
  plumbing: Plumbing,
  current: HeadPosition,
  wanted: HeadPosition,
): Promise<readonly Conflict[]> {
  if (isSamePosition(current, wanted) || wanted.kind === "detached") return [];
  const why = await whyNotOn(plumbing, current, wanted);
  return why === undefined ? [] : [{ path: "HEAD", why }];
}

async function whyNotOn(
  plumbing: Plumbing,
  current: HeadPosition,
  { branch, commit }: Extract<HeadPosition, { readonly kind: "branch" }>,
): Promise<string | undefined> {
  const ref = `refs/heads/${branch}`;
  const format = "--format=%(refname)%00%(objectname)%00%(worktreepath)";
  const answer = await plumbing.tell("look for the branch", ["for-each-ref", format, "--", ref]);
  const found = answer.split("\n").map((line) => line.split("\0"));
  const [, tip, path = ""] = found.find(([name]) => name === ref) ?? [];
  if (tip !== (commit ?? undefined)) {
    if (commit === null) return `branch ${branch} has commits by now`;
    return tip === undefined
      ? `branch ${branch} is gone`
      : `branch ${branch} was at ${commit} and is at ${tip}`;
  }
  const isHere = current.kind === "branch" && current.branch === branch;
  return path === "" || isHere ? undefined : `branch ${branch} is checked out elsewhere`;
}

/** Moves HEAD, and nothing but HEAD. Safe to repeat. */
export async function putHead(
  plumbing: Plumbing,
  current: HeadPosition,
  wanted: HeadPosition,
): Promise<void> {
  if (isSamePosition(current, wanted)) return;
  const args =
    wanted.kind === "detached"
      ? ["update-ref", "--no-deref", "-m", "ao: put back", "HEAD", wanted.commit]
      : ["symbolic-ref", "-m", "ao: put back", "HEAD", `refs/heads/${wanted.branch}`];
  const result = await plumbing.ask(args);
  if (result.exitCode !== 0) throw gitFailed("move HEAD back", result.stderr);
}

/** Whether they are the same place. */
export function isSamePosition(one: HeadPosition, other: HeadPosition): boolean {
  if (one.commit !== other.commit) return false;
  if (one.kind === "detached" || other.kind === "detached") return one.kind === other.kind;
  return one.branch === other.branch;
}
