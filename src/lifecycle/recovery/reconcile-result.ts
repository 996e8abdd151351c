import type { SessionId } from "../../domain/ids.ts";
import type { SessionReason } from "../../domain/lifecycle.ts";
import type { Status } from "../../domain/status.ts";
import type { GoalAdvance } from "../goals/continue-goals.ts";
import type { QueuedDelivery } from "../messages/deliver-queued.ts";
import type { PoolChange } from "../pool/pool-change.ts";
import type { Recovery } from "./recovery.ts";

/** A session whose status a look changed. */
export interface Transition {
  readonly id: SessionId;
  readonly from: Status;
  readonly to: Status;
  readonly reason: SessionReason | null;
}

/** A runtime or worktree with our marks that no session and no operation owns. */
export interface Orphan {
  readonly kind: "runtime" | "worktree";
  /** A path, or the runtime's own name for it. */
  readonly where: string;
  /** Whose it says to be. */
  readonly sessionId: SessionId;
  /** `found` when only named, as by `findOrphans`. */
  readonly action: "found" | "undone" | "salvaged" | "kept";
  /** One clause: why it was kept, or what it is. */
  readonly detail: string;
  /** Where the work is that was in it; `null` when none was kept. */
  readonly salvageRef: string | null;
  /** The command that keeps the work in it aside and frees it; `null` when none does. */
  readonly fix: string | null;
}

/** What one tick did. All lists are empty when there was nothing to do. */
export interface ReconcileResult extends Recovery {
  /** Sessions that were looked at. */
  readonly observed: number;
  readonly transitions: readonly Transition[];
  /** Goals that got another turn, or came to an end. */
  readonly goals: readonly GoalAdvance[];
  /** Messages that went out of their queues. */
  readonly messages: readonly QueuedDelivery[];
  readonly orphans: readonly Orphan[];
  /** Worktrees that were made ahead, and those that went. */
  readonly pool: readonly PoolChange[];
  /** Hook events that nobody will apply, which lie aside in the inbox for a person to look at. */
  readonly setAside: number;
}
