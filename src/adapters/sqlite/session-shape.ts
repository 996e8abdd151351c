import type { AgentExit } from "../../domain/agent-exit.ts";
import { ASKS } from "../../domain/facts.ts";
import type { ForkOrigin, InheritedPart } from "../../domain/fork-origin.ts";
import type { HeardEvents } from "../../domain/heard-events.ts";
import { parseLaunchId, parseProjectId, parseSessionId, parseTurnId } from "../../domain/ids.ts";
import {
  ACTIVITY_SOURCES,
  ACTIVITY_STATES,
  type ActivityMemory,
  type CanonicalLifecycle,
  type DetectingMemory,
  PR_REASONS,
  PR_STATES,
  type PrSubstate,
  RUNTIME_REASONS,
  RUNTIME_STATES,
  type RuntimeSubstate,
  SESSION_REASONS,
  SESSION_STATES,
  type SessionSubstate,
} from "../../domain/lifecycle.ts";
import {
  type DeletedBranch,
  PERMISSION_MODES,
  type ProcessIdentity,
  type RuntimeHandle,
  SESSION_KINDS,
  type SessionMetadata,
  type SessionRecord,
} from "../../domain/session.ts";
import type { TurnCheckpoint } from "../../domain/turn.ts";
import { check, listOf, nullable, number, oneOf, optional, parsedBy, shape, text } from "./shape.ts";

const lifecycle = shape<CanonicalLifecycle>({
  version: check((value) => value === 1),
  revision: number,
  session: shape<SessionSubstate>({ state: oneOf(SESSION_STATES), reason: nullable(oneOf(SESSION_REASONS)) }),
  pr: shape<PrSubstate>({
    state: oneOf(PR_STATES),
    reason: oneOf(PR_REASONS),
    number: nullable(number),
    url: nullable(text),
  }),
  runtime: shape<RuntimeSubstate>({ state: oneOf(RUNTIME_STATES), reason: oneOf(RUNTIME_REASONS) }),
  activity: shape<ActivityMemory>({
    state: nullable(oneOf(ACTIVITY_STATES)),
    lastActivityAtMs: nullable(number),
    source: oneOf(ACTIVITY_SOURCES),
    asks: optional(oneOf(ASKS)),
  }),
  detecting: nullable(shape<DetectingMemory>({ attempts: number, startedAtMs: number, evidenceHash: text })),
});

const processIdentity = shape<ProcessIdentity>({ pid: number, startTime: text, bootId: text });

const runtimeHandle = shape<RuntimeHandle>({
  name: text,
  id: text,
  paneId: text,
  socketPath: text,
  server: processIdentity,
});

const agentExit = shape<AgentExit>({
  status: nullable(number),
  signal: nullable(text),
  atMs: nullable(number),
});

const heardEvents = shape<HeardEvents>({
  launchId: parsedBy(parseLaunchId),
  atMs: number,
  events: listOf(shape<HeardEvents["events"][number]>({ id: text, atMs: number })),
  asks: nullable(oneOf(ASKS)),
  setBackFromMs: optional(number),
});

const forkOrigin = shape<ForkOrigin>({
  parentId: parsedBy(parseSessionId),
  turnId: parsedBy(parseTurnId),
  turnOf: parsedBy(parseSessionId),
  operationId: text,
  checkpoint: shape<TurnCheckpoint>({ ref: text, commit: text, takenAtMs: optional(number) }),
  inherits: listOf(shape<InheritedPart>({ name: text, count: number, digest: text })),
  conversationId: nullable(text),
  inheritedThrough: nullable(number),
});

const deletedBranch = shape<DeletedBranch>({
  ...{ branch: text, commit: text },
  mayStand: optional(check((value) => value === true)),
});

/** The metadata as a row holds them: of the prompt, which has a table of its own, only whether there is one. */
interface StoredMetadata extends SessionMetadata {
  readonly prompt: true | null;
}

const metadata = shape<StoredMetadata>({
  title: nullable(text),
  prompt: nullable(check((value) => value === true)),
  agent: text,
  agentArgs: listOf(text),
  model: nullable(text),
  permissions: oneOf(PERMISSION_MODES),
  agentSessionId: nullable(text),
  agentHome: optional(nullable(text)),
  previousAgentSessionIds: listOf(text),
  launchId: parsedBy(parseLaunchId),
  launchedAtMs: optional(number),
  repositoryPath: text,
  branch: text,
  baseRef: nullable(text),
  baseCommit: nullable(text),
  workspacePath: text,
  workspaceFreedAtMs: nullable(number),
  salvageRef: optional(nullable(text)),
  deletedBranch: optional(nullable(deletedBranch)),
  runtime: nullable(runtimeHandle),
  process: nullable(processIdentity),
  exit: optional(nullable(agentExit)),
  heard: nullable(heardEvents),
  killNote: nullable(text),
  configPath: nullable(text),
  fork: optional(forkOrigin),
});

/** A session as its row holds it. */
export interface StoredSession extends Omit<SessionRecord, "metadata"> {
  readonly metadata: StoredMetadata;
}

/** Everything a stored session must have. */
export const sessionShape = shape<StoredSession>({
  id: parsedBy(parseSessionId),
  projectId: parsedBy(parseProjectId),
  issueId: nullable(text),
  kind: oneOf(SESSION_KINDS),
  createdAtMs: number,
  updatedAtMs: number,
  terminatedAtMs: nullable(number),
  lifecycle,
  metadata,
});
