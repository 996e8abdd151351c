import { isoTime } from "./iso-time.ts";
import type { Salvage, SalvageContent, SalvagedFile, SalvageReason, SpecialFile } from "./salvage.ts";

/** A salvage as `ao salvage list --json` prints it. */
export interface SalvageJson {
  readonly ref: string;
  readonly sessionId: string;
  readonly number: number;
  readonly commit: string;
  readonly at: string;
  readonly reason: SalvageReason;
  /** Where HEAD stood: `branch` is `null` for a detached one, `commit` on a branch without any. */
  readonly head: { readonly branch: string | null; readonly commit: string | null };
}

/** One with what is in it, as `ao salvage show --json` prints it. */
export interface SalvageContentJson extends SalvageJson {
  readonly files: readonly SalvagedFile[];
  /** Pipes, which come back empty, and sockets and devices, which do not. */
  readonly special: readonly SpecialFile[];
  readonly operations: readonly string[];
  readonly commits: readonly string[];
}

export function toSalvageJson({ ref, sessionId, number, commit, atMs, reason, head }: Salvage): SalvageJson {
  const branch = head.kind === "branch" ? head.branch : null;
  return { ref, sessionId, number, commit, at: isoTime(atMs), reason, head: { branch, commit: head.commit } };
}

export function toSalvageContentJson(content: SalvageContent): SalvageContentJson {
  const { files, special, operations, commits } = content;
  return { ...toSalvageJson(content), files, special, operations, commits };
}
