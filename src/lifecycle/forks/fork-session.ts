import { isSameJson, jsonMembers } from "../../domain/canonical-json.ts";
import { AoError, errorMessage, isAoError } from "../../domain/errors.ts";
import { forkStatus } from "../../domain/fork.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { CompletedState, FailedState, LeasedOperation, Operation } from "../../domain/operation.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { SessionDeps } from "../deps.ts";
import { checkLaunch } from "../launch-agent.ts";
import type { Leftover } from "../leftover.ts";
import { sendFirst } from "../messages/first-prompt.ts";
import { beginOnce } from "../operations/begin-once.ts";
import { crossing } from "../operations/crossing.ts";
import { operationLedger } from "../operations/ledger.ts";
import { operationInProgress, requestConflict } from "../operations/operation-errors.ts";
import { findOperation, type PrepareRequest } from "../operations/prepare-operation.ts";
import { warningsIn } from "../operations/progress-members.ts";
import { recoverOperations } from "../recovery/recover-operations.ts";
import { requireSession } from "../session-refs.ts";
import { keepEnvironment } from "./asked-environment.ts";
import { carryForkOn, type ForkOutcome } from "./carry-fork-on.ts";
import { draftFork } from "./draft-fork.ts";
import { forkDraft } from "./fork-launch.ts";
import { type ForkPoint, findForkPoint } from "./fork-point.ts";
import { type ForkProgress, forkProgressJson, hashOf } from "./fork-progress.ts";
import { type ForkRequest, type ForkResult, forkIntent, refuseBadText } from "./fork-request.ts";
import { forkSpec, planForkWorkspace } from "./fork-workspace.ts";
import { keepPart } from "./inherited-parts.ts";

/** How long an agent that was just started has to take its first message. */
const READY_MS = 30_000;

/**
 * Makes a session from the past of another one: its conversation through a turn, and the files as they were then.
 * The other one goes on meanwhile. Repeated under its request id, a fork goes on from where it stands, and one that is
 * done gives its session again.
 *
 * @throws AoError session_not_found, and as `findForkPoint`; nothing was made.
 * @throws AoError branch_in_use, branch_invalid, runtime_unavailable, agent_unavailable; nothing was made.
 * @throws AoError request_conflict, operation_in_progress for a request id that was or is used.
 * @throws AoError fork_failed when its agent refused, or it can never be what was asked; all was taken back.
 * @throws AoError fork_unknown when nobody can tell whether its agent made a conversation; it is not asked again.
 * @throws AoError what kept it from being made, or from being committed: then a repeat goes on.
 */
export async function forkSession(
  deps: SessionDeps,
  sourceId: SessionId,
  request: ForkRequest,
): Promise<ForkResult> {
  refuseBadText(request);
  await recoverOperations(deps);
  const source = requireSession(deps, sourceId);
  const intent = forkIntent(deps, source, request);
  const earlier = findOperation(deps, intent);
  if (earlier !== undefined && !isSameJson(earlier.input, intent.input)) throw requestConflict(earlier);
  if (earlier !== undefined && !mayBeginAnew(earlier)) return goOn(deps, earlier, request);
  return begin(deps, { source, intent, request });
}

/** What was taken back before the agent was asked left nothing behind. */
function mayBeginAnew({ state, ...operation }: Operation): boolean {
  if (state.kind !== "failed") return false;
  const { progress } = operation;
  return forkStatus({ state: { kind: "prepared", nextAttemptAtMs: 0 }, progress }) === "prepared";
}

async function goOn(deps: SessionDeps, earlier: Operation, request: ForkRequest): Promise<ForkResult> {
  if (isCompleted(earlier)) return resultOf(deps, earlier);
  if (isFailed(earlier)) throw forkEnded(earlier, []);
  const decision = await operationLedger(deps).claim(earlier.id, { evenIfNotDue: true });
  if (decision.kind === "claimed") return carry(deps, decision.operation, request);
  if (isCompleted(decision.operation)) return resultOf(deps, decision.operation);
  if (isFailed(decision.operation)) throw forkEnded(decision.operation, []);
  throw operationInProgress(decision.operation);
}

function isCompleted(operation: Operation): operation is Operation<CompletedState> {
  return operation.state.kind === "completed";
}

function isFailed(operation: Operation): operation is Operation<FailedState> {
  return operation.state.kind === "failed";
}

interface Beginning {
  readonly source: SessionRecord;
  readonly intent: PrepareRequest;
  readonly request: ForkRequest;
}

async function begin(deps: SessionDeps, beginning: Beginning): Promise<ForkResult> {
  const { source, intent, request } = beginning;
  const point = await findForkPoint(deps, source, request.turnId);
  const progress = draftFork(deps, beginning, point);
  const asked = { callerEnv: deps.callerEnv, projectEnv: request.settings.env };
  await checkLaunch(deps, forkDraft(deps, { ...progress, accepted: ASSUMED }, asked));
  const { branch } = request;
  await planForkWorkspace(deps, forkSpec(deps, progress, { branch, operationId: null, asked }));
  const sessionId = progress.frozen.seed.id;
  const begun = await beginOnce(deps, { ...intent, sessionId, progress: forkProgressJson(progress) });
  if (begun.kind === "busy") throw operationInProgress(begun.operation);
  if (begun.kind === "repeat") return resultOf(deps, begun.operation);
  const held = begun.operation;
  return withLease(deps, held, async () => {
    await keepEnvironment(deps, progress, asked);
    await freeze(deps, held, { progress, point });
    return finish(deps, await carryForkOn(deps, held, request.onStep));
  });
}

/** Stands for a conversation that is there, where only the program is looked for. */
const ASSUMED = { agentSessionId: "00000000-0000-4000-8000-000000000000", inheritedThrough: null };

/** What was said is kept, before what is copied counts as frozen. */
async function freeze(
  deps: SessionDeps,
  held: LeasedOperation,
  { progress, point }: { readonly progress: ForkProgress; readonly point: ForkPoint },
): Promise<void> {
  const { frozen } = progress;
  const { projectId } = frozen.seed;
  const own = frozen.inherits.at(-1);
  if (own === undefined) return;
  const part = await crossing(deps, "fork.freeze", () =>
    keepPart(deps, projectId, { name: own.name, messages: point.messages }),
  );
  const kept = { ...frozen, inherits: [...frozen.inherits.slice(0, -1), part] };
  const next = { ...progress, frozen: kept, hash: hashOf(deps.ids, kept) };
  await crossing(deps, "fork.frozen", () => operationLedger(deps).checkpoint(held, forkProgressJson(next)));
}

async function carry(deps: SessionDeps, held: LeasedOperation, { onStep }: ForkRequest): Promise<ForkResult> {
  return withLease(deps, held, async () => finish(deps, await carryForkOn(deps, held, onStep)));
}

/** What could not be ended now is given back, for a repeat or whoever recovers operations next. */
async function withLease<Result>(
  deps: SessionDeps,
  held: LeasedOperation,
  work: () => Promise<Result>,
): Promise<Result> {
  const ledger = operationLedger(deps);
  try {
    return await ledger.keepLease(held, work);
  } catch (error) {
    if (!isAoError(error, "operation_in_progress")) giveBack(deps, held, error);
    throw error;
  }
}

/** A store that fails is no reason to hide the first error: the lease runs out. */
function giveBack(deps: SessionDeps, held: LeasedOperation, error: unknown): void {
  try {
    operationLedger(deps).release(held, { lastError: errorMessage(error) });
  } catch {}
}

async function finish(deps: SessionDeps, outcome: ForkOutcome): Promise<ForkResult> {
  if (outcome.kind === "ended") throw outcome.cause ?? forkEnded(outcome.operation, outcome.left);
  const { operation, record } = outcome;
  const result = resultOf(deps, operation);
  const queued = deps.messages.firstQueued(record.id);
  // The session stands whatever becomes of it.
  const warning = queued === undefined ? null : await sendFirst(deps, queued, READY_MS);
  return warning === null ? result : { ...result, warnings: [...result.warnings, warning] };
}

function resultOf(deps: SessionDeps, operation: Operation<CompletedState>): ForkResult {
  const { sessionId, state } = operation;
  if (sessionId === null) throw new AoError("internal", `fork ${operation.id} names no session`);
  return { operation, record: requireSession(deps, sessionId), warnings: warningsIn(state.result) };
}

function forkEnded(operation: Operation<FailedState>, left: readonly Leftover[]): AoError {
  const { code, message } = operation.state.error;
  const status = forkStatus(operation);
  const agentSessionId = jsonMembers(operation.state.result)?.["agentSessionId"] ?? null;
  const details = { operationId: operation.id, status, code, agentSessionId, left };
  const isUnknown = status === "unknown";
  return new AoError(isUnknown ? "fork_unknown" : "fork_failed", message, {
    hint: isUnknown
      ? "its agent is not asked again; fork anew under another request id, or none"
      : "fork anew under another request id, or none",
    details,
  });
}
