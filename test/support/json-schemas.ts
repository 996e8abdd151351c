import * as z from "zod";
import { EXIT_CODES } from "../../src/domain/errors.ts";
import { FORK_STATUSES } from "../../src/domain/fork.ts";
import {
  ACTIVITY_SOURCES,
  ACTIVITY_STATES,
  PR_REASONS,
  PR_STATES,
  RUNTIME_REASONS,
  RUNTIME_STATES,
  SESSION_REASONS,
  SESSION_STATES,
} from "../../src/domain/lifecycle.ts";
import { OPERATION_KINDS } from "../../src/domain/operation.ts";
import { SALVAGE_REASONS, SALVAGED_KINDS, SPECIAL_KINDS } from "../../src/domain/salvage.ts";
import { SESSION_KINDS } from "../../src/domain/session.ts";
import { STATUSES } from "../../src/domain/status.ts";
import { TURN_ORIGINS, TURN_OUTCOMES, TURN_PHASES } from "../../src/domain/turn.ts";
import { SKIP_REASONS } from "../../src/domain/workspace-finding.ts";

/** ISO 8601 in UTC with milliseconds, as cli.md demands. */
const time = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const text = z.string();
const maybe = text.nullable();

const lifecycle = z.strictObject({
  version: z.literal(1),
  revision: z.int().positive(),
  session: z.strictObject({ state: z.enum(SESSION_STATES), reason: z.enum(SESSION_REASONS).nullable() }),
  pr: z.strictObject({
    state: z.enum(PR_STATES),
    reason: z.enum(PR_REASONS),
    number: z.int().nullable(),
    url: maybe,
  }),
  runtime: z.strictObject({ state: z.enum(RUNTIME_STATES), reason: z.enum(RUNTIME_REASONS) }),
  activity: z.strictObject({
    state: z.enum(ACTIVITY_STATES).nullable(),
    lastActivityAt: time.nullable(),
    source: z.enum(ACTIVITY_SOURCES),
  }),
  detecting: z.strictObject({ attempts: z.int().positive(), startedAt: time, evidenceHash: text }).nullable(),
});

export const sessionSchema = z.strictObject({
  id: text.regex(/^[A-Za-z0-9][A-Za-z0-9_-]*-[1-9]\d*$/),
  projectId: text,
  projectName: text,
  role: z.enum(SESSION_KINDS),
  kind: z.enum(SESSION_KINDS),
  status: z.enum(STATUSES),
  title: maybe,
  issueId: maybe,
  agent: text,
  branch: text,
  baseRef: maybe,
  workspacePath: text,
  pr: maybe,
  prNumber: z.int().nullable(),
  activity: z.enum(ACTIVITY_STATES).nullable(),
  lastActivityAt: time.nullable(),
  isTerminated: z.boolean(),
  createdAt: time,
  updatedAt: time,
  terminatedAt: time.nullable(),
  agentSessionId: maybe,
  runtime: z
    .strictObject({
      ...{ name: text, handle: text, socketPath: text },
      attach: z.array(text).nullable(),
      exit: z.strictObject({ status: z.int().nullable(), signal: maybe, at: time.nullable() }).nullable(),
    })
    .nullable(),
  parentId: maybe,
  forkedFromTurnId: maybe,
  lifecycle,
});

const warnings = z.array(text);

/** `ao spawn`. */
export const spawnSchema = sessionSchema.extend({ warnings });

/** `ao restore`. */
export const restoreSchema = sessionSchema.extend({ fresh: z.boolean(), salvageRef: maybe, warnings });

export const listSchema = z.strictObject({
  data: z.array(sessionSchema),
  meta: z.strictObject({
    hiddenTerminatedCount: z.int().nonnegative(),
    observedAt: time.nullable(),
    unreadable: z.array(z.strictObject({ id: text, why: text })),
    unsaved: z.array(z.strictObject({ id: text, why: text })),
  }),
});

const operationSchema = z.strictObject({
  id: z.uuid(),
  kind: z.enum(OPERATION_KINDS),
  state: z.enum(["prepared", "leased", "completed", "failed"]),
  requestId: text,
  attempt: z.int().nonnegative(),
  createdAt: time,
  updatedAt: time,
  holder: z.strictObject({ pid: z.int().positive(), command: text, since: time }).nullable(),
  nextAttemptAt: time.nullable(),
  lastError: maybe,
  error: z.strictObject({ code: text, message: text }).nullable(),
  result: z.unknown(),
});

/** `ao fork`. */
export const forkSchema = operationSchema.extend({
  status: z.enum(FORK_STATUSES),
  sessionId: maybe,
  parentId: maybe,
  turnId: maybe,
  agentSessionId: maybe,
  session: sessionSchema,
  warnings,
});

const fileChange = z.strictObject({
  path: text,
  kind: z.enum(["added", "changed", "deleted"]),
  insertions: z.int().nullable(),
  deletions: z.int().nullable(),
});

/** `ao compare`. */
export const compareSchema = z.strictObject({
  base: z.strictObject({ sessionId: text, turnId: text, commit: text }),
  sessions: z.array(
    z.strictObject({
      id: text,
      source: z.enum(["worktree", "checkpoint"]),
      insertions: z.int(),
      deletions: z.int(),
      files: z.array(fileChange),
    }),
  ),
  both: z.array(z.strictObject({ path: text, isSame: z.boolean() })),
});

const turnCheckpoint = z.strictObject({ ref: text, commit: text }).nullable();

const turnSchema = z.strictObject({
  id: text.regex(/^[A-Za-z0-9-]{1,64}$/),
  sequence: z.int().positive(),
  phase: z.enum(TURN_PHASES),
  outcome: z.enum(TURN_OUTCOMES).nullable(),
  origin: z.enum(TURN_ORIGINS),
  errorCode: maybe,
  errorMessage: maybe,
  messageId: maybe,
  goal: z.strictObject({ operationId: text, revision: z.int(), repairEpoch: z.int() }).nullable(),
  launchId: text,
  createdAt: time,
  startedAt: time.nullable(),
  updatedAt: time,
  settledAt: time.nullable(),
  checkpoint: turnCheckpoint,
  startCheckpoint: turnCheckpoint,
});

export const turnsSchema = z.strictObject({ data: z.array(turnSchema) });

const factSource = z.enum([...ACTIVITY_SOURCES, "request", "pull_request"]);
const facts = z.strictObject({
  session: z.strictObject({ state: z.enum(SESSION_STATES), source: factSource }),
  runtime: z.strictObject({ state: z.enum(RUNTIME_STATES), source: factSource }),
  activity: z.strictObject({
    state: z.enum(ACTIVITY_STATES).nullable(),
    source: z.enum(ACTIVITY_SOURCES),
    confidence: z.enum(["high", "low", "none"]),
    at: time.nullable(),
  }),
  silentSince: time.nullable(),
});

/** A goal, as `ao goal` and `ao show` print it. */
export const goalSchema = z.strictObject({
  sessionId: text,
  objective: text.nullable(),
  status: z.enum(["none", "pending", "active", "paused", "completed", "limited", "blocked"]),
  detail: text.nullable(),
  syncStatus: z.enum(["pending", "applying", "synced", "diverged", "failed", "unknown"]),
  revision: z.int(),
  tombstoned: z.boolean(),
  operationId: text,
  repairEpoch: z.int(),
  pendingOperationId: text.nullable(),
  maxTurns: z.int().nullable(),
  turnsUsed: z.int(),
  until: text.nullable(),
  check: z
    .strictObject({ exitCode: z.int().nullable(), output: z.string(), isCut: z.boolean(), at: text })
    .nullable(),
  lastError: text.nullable(),
  startedAt: text.nullable(),
  observedAt: text.nullable(),
  updatedAt: text,
});

export const showSchema = sessionSchema.extend({
  turns: z.array(turnSchema),
  goal: goalSchema.nullable(),
  operations: z.array(operationSchema),
  transcript: z.nullable(
    z.strictObject({
      messages: z.int(),
      digest: z.nullable(z.string()),
      savedAt: z.nullable(z.iso.datetime({ precision: 3 })),
      health: z.string(),
      turnInFlight: z.nullable(z.strictObject({ turnId: maybe, since: z.iso.datetime({ precision: 3 }) })),
      unsaved: maybe,
    }),
  ),
  facts,
  killNote: maybe,
  previousAgentSessionIds: z.array(text),
});

export const sendSchema = z.strictObject({
  messageId: z.uuid(),
  sessionId: text,
  state: z.enum(["delivered", "queued", "unconfirmed"]),
  turnId: maybe,
});

export const cancelSchema = z.strictObject({
  operationId: z.uuid().nullable(),
  turnId: maybe,
  state: z.enum(["not_found", "already_settled", "cancel_requested", "settled"]),
  intentAccepted: z.boolean(),
  providerConfirmed: z.boolean(),
  settled: z.boolean(),
  outcome: z.enum(TURN_OUTCOMES).nullable(),
});

export const killSchema = z.strictObject({
  id: text,
  workspaceFreed: z.boolean(),
  alreadyTerminated: z.boolean(),
  salvageRef: maybe,
  workspacePath: maybe,
  queuedMessages: z.int(),
});

const named = { id: text, projectId: text };

const remains = z.strictObject({ branch: text, commits: z.int(), stashes: z.int() });
const poolChanges = z.array(
  z.strictObject({
    projectId: text,
    where: text,
    action: z.enum(["made", "removed", "kept"]),
    detail: text,
  }),
);

export const cleanupSchema = z.strictObject({
  cleaned: z.array(
    z.strictObject({ ...named, salvageRef: maybe, remains: remains.nullable(), branchDeleted: maybe }),
  ),
  branchesDeleted: z.array(z.strictObject({ ...named, branch: text })),
  skipped: z.array(z.strictObject({ ...named, reason: z.enum(SKIP_REASONS), detail: text })),
  errors: z.array(z.strictObject({ ...named, message: text })),
  pool: poolChanges,
  dryRun: z.boolean(),
});

export const reconcileSchema = z.strictObject({
  observed: z.int().nonnegative(),
  transitions: z.array(
    z.strictObject({
      id: text,
      from: z.enum(STATUSES),
      to: z.enum(STATUSES),
      reason: z.enum(SESSION_REASONS).nullable(),
    }),
  ),
  operations: z.array(
    z.strictObject({
      id: z.uuid(),
      kind: z.enum(OPERATION_KINDS),
      sessionId: maybe,
      outcome: z.enum(["finished", "undone", "left"]),
    }),
  ),
  goals: z.array(
    z.strictObject({
      sessionId: text,
      kind: z.enum(["continued", "completed", "limited", "blocked"]),
      turnsUsed: z.int(),
    }),
  ),
  messages: z.array(
    z.strictObject({
      messageId: text,
      sessionId: text,
      state: z.enum(["queued", "delivering", "delivered", "unconfirmed", "failed", "cancelled"]),
    }),
  ),
  setAside: z.int().min(0),
  orphans: z.array(
    z.strictObject({
      kind: z.enum(["runtime", "worktree"]),
      where: text,
      sessionId: text,
      action: z.enum(["found", "undone", "salvaged", "kept"]),
      detail: text,
      salvageRef: maybe,
      fix: maybe,
    }),
  ),
  pool: poolChanges,
  errors: z.array(z.strictObject({ subject: text, code: z.enum(Object.keys(EXIT_CODES)), message: text })),
});

/** One line of `ao events`. */
export const eventSchema = z.strictObject({
  sequence: z.int().positive(),
  at: time,
  projectId: text,
  sessionId: maybe,
  type: text,
  data: z.unknown(),
});

const salvageShape = {
  ref: text.regex(/^refs\/ao\/salvage\/[^/]+\/[1-9][0-9]*$/),
  sessionId: text,
  number: z.int().positive(),
  commit: text,
  at: time,
  reason: z.enum(SALVAGE_REASONS),
  head: z.strictObject({ branch: maybe, commit: maybe }),
};

export const salvageListSchema = z.strictObject({ data: z.array(z.strictObject(salvageShape)) });

export const salvageSchema = z.strictObject({
  ...salvageShape,
  files: z.array(
    z.strictObject({ path: text, kind: z.enum(SALVAGED_KINDS), bytes: z.int().nonnegative().nullable() }),
  ),
  special: z.array(z.strictObject({ path: text, kind: z.enum(SPECIAL_KINDS) })),
  operations: z.array(text),
  commits: z.array(text),
});

export const outputSchema = z.strictObject({ lines: z.array(text) });

export const projectSchema = z.strictObject({
  id: text,
  name: text,
  repositoryPath: text,
  prefix: text,
  defaultBranch: maybe,
  createdAt: time,
  repositoryExists: z.boolean(),
});

export const projectListSchema = z.strictObject({ data: z.array(projectSchema) });

export const agentsSchema = z.strictObject({
  data: z.array(
    z.strictObject({
      name: text,
      installed: z.boolean(),
      version: maybe,
      path: maybe,
      capabilities: z.strictObject({
        pinsSessionId: z.boolean(),
        resume: z.boolean(),
        fork: z.enum(["native", "prefix", "replay", "none"]),
        hooks: z.boolean(),
        receipts: z.boolean(),
        bracketedPaste: z.boolean(),
        commandMarks: z.array(text).optional(),
        enterDelayMs: z.number().optional(),
        capturesSessionId: z.boolean(),
        begunByPrompt: z.boolean().optional(),
        firstPrompt: z.enum(["file", "stdin", "message"]),
        showsReadiness: z.boolean(),
        needsReadiness: z.boolean().optional(),
        readyWithinMs: z.number().optional(),
        permissionModes: z.array(z.enum(["default", "accept-edits", "bypass"])),
      }),
      default: z.boolean(),
      profile: z
        .strictObject({
          hookEvents: z.array(text),
          promptInArgv: z.enum(["stays_open", "ends", "unknown"]),
          readiness: text,
          interruptKeys: z.array(text),
          interruptEvidence: text,
          trust: text,
          ownLog: z.strictObject({ location: text, format: text }).nullable(),
          tested: z.strictObject({ from: text, to: text, on: text }).nullable(),
        })
        .nullable(),
      isTested: z.boolean().nullable(),
    }),
  ),
});

export const doctorSchema = z.strictObject({
  checks: z.array(
    z.strictObject({ name: text, status: z.enum(["pass", "warn", "fail"]), detail: text, fix: maybe }),
  ),
});

export const configShowSchema = z.strictObject({
  path: maybe,
  projectId: maybe,
  values: z.array(z.strictObject({ key: text, value: z.unknown(), origin: text })),
  projects: z.array(z.strictObject({ id: maybe, path: text, prefix: maybe })),
});

export const configPathSchema = z.strictObject({ path: maybe });

export const configValidateSchema = z.strictObject({
  path: maybe,
  valid: z.literal(true),
  warnings: z.array(text),
});

const error = z.strictObject({
  code: z.enum(Object.keys(EXIT_CODES)),
  message: text,
  hint: maybe,
  details: z.record(text, z.unknown()),
});

export const errorSchema = z.strictObject({ error });

export const batchSpawnSchema = z.strictObject({
  created: z.array(spawnSchema),
  skipped: z.array(
    z.strictObject({ issueId: text, reason: z.enum(["duplicate", "live_session"]), sessionId: maybe }),
  ),
  failed: z.array(z.strictObject({ issueId: text, error })),
});
