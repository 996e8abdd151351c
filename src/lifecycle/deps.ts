import type { OperationOwner } from "../domain/operation.ts";
import type { Agent } from "../ports/agent.ts";
import type { ChangeLog } from "../ports/change-log.ts";
import type { Checkpoints } from "../ports/checkpoints.ts";
import type { Clock } from "../ports/clock.ts";
import type { FaultPoint } from "../ports/fault-point.ts";
import type { Files } from "../ports/files.ts";
import type { GoalCheckRunner } from "../ports/goal-check.ts";
import type { GoalStore } from "../ports/goal-store.ts";
import type { IdSource } from "../ports/ids.ts";
import type { Inbox } from "../ports/inbox.ts";
import type { Locks } from "../ports/locks.ts";
import type { MessageStore } from "../ports/message-store.ts";
import type { Messenger } from "../ports/messenger.ts";
import type { OperationStore } from "../ports/operation-store.ts";
import type { ProcessTable } from "../ports/process-table.ts";
import type { Programs } from "../ports/programs.ts";
import type { Repositories } from "../ports/repositories.ts";
import type { Runtime } from "../ports/runtime.ts";
import type { SessionStore } from "../ports/session-store.ts";
import type { Snapshots } from "../ports/snapshots.ts";
import type { Spares } from "../ports/spares.ts";
import type { TranscriptStore } from "../ports/transcript-store.ts";
import type { TurnStore } from "../ports/turn-store.ts";
import type { Workspace } from "../ports/workspace.ts";

/** Everything the session commands work with. A use case names the part it needs with `Pick`. */
export interface SessionDeps {
  /** Its transactions span `operations`, `changes`, `turns`, `messages` and `goals`. */
  readonly store: SessionStore;
  readonly operations: OperationStore;
  readonly changes: ChangeLog;
  readonly turns: TurnStore;
  readonly messages: MessageStore;
  readonly goals: GoalStore;
  readonly goalChecks: GoalCheckRunner;
  readonly runtime: Runtime;
  readonly workspace: Workspace;
  readonly snapshots: Snapshots;
  readonly spares: Spares;
  readonly repositories: Repositories;
  /** Agent adapters by name. */
  readonly agents: ReadonlyMap<string, Agent>;
  readonly messenger: Messenger;
  readonly checkpoints: Checkpoints;
  readonly locks: Locks;
  readonly transcripts: TranscriptStore;
  readonly inbox: Inbox;
  readonly processes: ProcessTable;
  readonly programs: Programs;
  readonly files: Files;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** This process and the command it carries out: the owner of the operations it begins or takes over. */
  readonly self: Omit<OperationOwner, "sinceMs">;
  /** Crossed before and after every step of an operation. */
  readonly boundary: FaultPoint;
  /** Resolved path of the data directory. */
  readonly dataDir: string;
  /** The environment `ao` was called with. */
  readonly callerEnv: Readonly<Record<string, string | undefined>>;
}

/** Told what a long command is about to do, for a spinner. One short phrase, for example `starting agent`. */
export type OnStep = (step: string) => void;
