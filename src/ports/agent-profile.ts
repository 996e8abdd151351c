import type { TestedVersions } from "../domain/tested-versions.ts";

/** Something that tells what an agent does: its hooks, its own files, its screen, its terminal's output. */
export type AgentSign = "hook" | "file" | "screen" | "output" | "none";

/** What is known of an agent's program, for people and for `ao doctor`. The core does not ask it. */
export interface AgentProfile {
  /** The hook events that it was seen to send, by their names. */
  readonly hookEvents: readonly string[];
  /** What a prompt among its arguments would do to its screen; `ao` never puts one there. */
  readonly promptInArgv: "stays_open" | "ends" | "unknown";
  /** What tells that it takes its first prompt. */
  readonly readiness: AgentSign;
  /** The keys that stop its turn, as tmux names them; none when it has no such keys. */
  readonly interruptKeys: readonly string[];
  /** What tells that a turn was stopped. */
  readonly interruptEvidence: AgentSign;
  /** How it comes to trust a new worktree without a question. */
  readonly trust: "none_needed" | "per_launch" | "asks" | "unknown";
  /** Where its own log of a conversation lies, and in which form; `null` when it keeps none that is read. */
  readonly ownLog: { readonly location: string; readonly format: string } | null;
  /** `null` for one that was declared from documents and never run here. */
  readonly tested: TestedVersions | null;
}
