import { parseSessionId, type SessionId } from "./ids.ts";
import type { FindingKind, WorkspaceFinding } from "./workspace-finding.ts";

/** What made somebody keep the work of a workspace. */
export const SALVAGE_REASONS = ["kill", "cleanup", "rewind", "by_hand", "orphan"] as const;
export type SalvageReason = (typeof SALVAGE_REASONS)[number];

/** Where a workspace's HEAD stood: on a branch, which has no commit yet when that is `null`, or on none. */
export type HeadPosition =
  | { readonly kind: "branch"; readonly branch: string; readonly commit: string | null }
  | { readonly kind: "detached"; readonly commit: string };

/** The work of one workspace at one moment, kept as a commit. */
export interface Salvage {
  /** `refs/ao/salvage/<session>/<number>` in the session's repository. */
  readonly ref: string;
  readonly sessionId: SessionId;
  /** From 1, rising, and never used again, also when its salvage was dropped. */
  readonly number: number;
  readonly commit: string;
  readonly atMs: number;
  readonly reason: SalvageReason;
  readonly head: HeadPosition;
}

/**
 * What had become of a file.
 *
 * `staged` is as in HEAD itself, and other in the index; `conflicted` waits for a merge to be settled.
 */
export const SALVAGED_KINDS = ["changed", "deleted", "staged", "conflicted", "untracked", "ignored"] as const;
export type SalvagedKind = (typeof SALVAGED_KINDS)[number];

export interface SalvagedFile {
  /** Relative to the workspace; what is no UTF-8 shows as U+FFFD. */
  readonly path: string;
  readonly kind: SalvagedKind;
  /** Size of the kept file; `null` when there was none in the workspace. */
  readonly bytes: number | null;
}

/** What git cannot hold, having no content: pipes come back empty, sockets and devices do not. */
export const SPECIAL_KINDS = ["pipe", "socket", "device"] as const;
export type SpecialKind = (typeof SPECIAL_KINDS)[number];

/** Of such a thing its name is kept, and a pipe's permissions. */
export interface SpecialFile {
  /** Relative to the workspace; what is no UTF-8 shows as U+FFFD. */
  readonly path: string;
  readonly kind: SpecialKind;
}

/** What is in a salvage. */
export interface SalvageContent extends Salvage {
  /** By path. */
  readonly files: readonly SalvagedFile[];
  /** By path; no part of `files`. */
  readonly special: readonly SpecialFile[];
  /** What was under way, for example `merge`. */
  readonly operations: readonly string[];
  /** Commits beside HEAD that nothing else may hold. */
  readonly commits: readonly string[];
}

/** What a salvage can hold. What it cannot is told by its maker. */
const KEEPABLE: ReadonlySet<FindingKind> = new Set([
  "changed",
  "staged",
  "untracked",
  "ignored",
  "operation_in_progress",
  "unreachable_commits",
  "nested_repository",
]);

/** Whether a workspace may go once all that was found in it is kept. */
export function isKeepable(findings: readonly WorkspaceFinding[]): boolean {
  return findings.every(({ kind }) => KEEPABLE.has(kind));
}

/** Something in a workspace that a salvage cannot hold. */
export interface Unkeepable {
  /** Relative to the workspace. */
  readonly path: string;
  readonly why: string;
}

const SHOWN = 3;
const MAX_ITEMS = 20;

/** The same as a finding: such a workspace stays. @param unkeepable at least one. */
export function unkeepableFinding(unkeepable: readonly Unkeepable[]): WorkspaceFinding {
  const said = unkeepable.slice(0, SHOWN).map(({ path, why }) => `${path}: ${why}`);
  const more = unkeepable.length > SHOWN ? `; and ${unkeepable.length - SHOWN} more` : "";
  return {
    kind: "unreadable",
    detail: `what cannot be kept: ${said.join("; ")}${more}`,
    items: unkeepable.slice(0, MAX_ITEMS).map(({ path }) => path),
    count: unkeepable.length,
  };
}

const PREFIX = "refs/ao/salvage/";
const NAME = /^(?:refs\/ao\/salvage\/)?([^/]+)\/([1-9][0-9]{0,8})$/;

/** The ref of a session's salvage, or with no number the beginning of all of them. */
export function salvageRef(sessionId: SessionId, number?: number): string {
  return `${PREFIX}${sessionId}/${number ?? ""}`;
}

/** Parses what a person calls a salvage: its ref, or the end of it, `app-7/2`. */
export function parseSalvageRef(
  text: string,
): { readonly ref: string; readonly sessionId: SessionId; readonly number: number } | undefined {
  const [, session = "", digits = ""] = NAME.exec(text) ?? [];
  const sessionId = parseSessionId(session);
  if (sessionId === undefined) return undefined;
  const number = Number(digits);
  return { ref: salvageRef(sessionId, number), sessionId, number };
}

const DROPPED = "refs/ao/salvage-dropped/";

/** What keeps the number of a dropped salvage from being used again, or with no number the beginning of all of it. */
export function droppedSalvageRef(sessionId: SessionId, number?: number): string {
  return `${DROPPED}${sessionId}/${number ?? ""}`;
}

/** The number that a ref made by `droppedSalvageRef` keeps. */
export function parseDroppedSalvageRef(ref: string): number | undefined {
  return ref.startsWith(DROPPED) ? parseSalvageRef(ref.slice(DROPPED.length))?.number : undefined;
}

/** The number after all that were ever taken. */
export function nextSalvageNumber(taken: readonly number[]): number {
  return Math.max(0, ...taken) + 1;
}
