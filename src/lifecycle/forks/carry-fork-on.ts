import { toJson } from "../../domain/canonical-json.ts";
import { AoError, codeOf, errorMessage, isAoError } from "../../domain/errors.ts";
import type { FailedState, LeasedOperation, Operation } from "../../domain/operation.ts";
import type { OnStep, SessionDeps } from "../deps.ts";
import type { Leftover } from "../leftover.ts";
import { crossing } from "../operations/crossing.ts";
import { operationLedger } from "../operations/ledger.ts";
import { requireOperation } from "../operations/write-operation.ts";
import { passingFailure, takeBack } from "../undo.ts";
import { dropEnvironment } from "./asked-environment.ts";
import { type AcceptedFork, type CommittedFork, commitFork } from "./commit-fork.ts";
import { dispatchFork } from "./dispatch-fork.ts";
import { type ForkProgress, forkProgressJson, parseForkProgress } from "./fork-progress.ts";
import { makeForkWorkspace, type WithWorkspace } from "./fork-workspace.ts";
import { provenInconsistency } from "./prove-consistent.ts";
import { forkStepsLeft } from "./take-fork-back.ts";

/** Tries to commit what an agent has made, after which it is given up. */
const MAX_ATTEMPTS = 24;

type Ending = NonNullable<ForkProgress["undoing"]>;

/** What came of a fork: its session, or why there will never be one. */
export type ForkOutcome =
  | ({ readonly kind: "committed" } & CommittedFork)
  | {
      readonly kind: "ended";
      readonly operation: Operation<FailedState>;
      readonly left: readonly Leftover[];
      /** What made it fail, where that is known here. */
      readonly cause?: unknown;
    };

/**
 * Carries a fork on from where it stands, to its end. Its agent is asked at most once in its life.
 *
 * @throws AoError what kept it from being committed, or from being taken back, now: it may be tried again.
 */
export async function carryForkOn(
  deps: SessionDeps,
  held: LeasedOperation,
  onStep?: OnStep,
): Promise<ForkOutcome> {
  const progress = parseForkProgress(requireOperation(deps, held.id));
  if (progress.undoing !== undefined) return endFork(deps, held, { progress, ending: progress.undoing });
  switch (progress.phase) {
    case "prepared":
      return fromPrepared(deps, held, { progress, onStep });
    case "dispatching": {
      const message = "its process ended while the agent was asked, and nobody can tell what came of it";
      return endFork(deps, held, { progress, ending: { status: "unknown", code: "fork_unknown", message } });
    }
    case "provider_accepted":
      return fromAccepted(deps, held, progress);
  }
}

interface Prepared {
  readonly progress: ForkProgress;
  readonly onStep: OnStep | undefined;
}

async function fromPrepared(
  deps: SessionDeps,
  held: LeasedOperation,
  { progress, onStep }: Prepared,
): Promise<ForkOutcome> {
  let reached = progress;
  const made = await orFailure(async () => {
    await requireConsistent(deps, held, progress);
    onStep?.("creating worktree");
    reached = await makeForkWorkspace(deps, held, progress);
    onStep?.("forking conversation");
    return dispatchFork(deps, held, reached as WithWorkspace);
  });
  if (made.kind === "failure") {
    const ending = failedBy(made.error);
    const latest = parseForkProgress(requireOperation(deps, held.id));
    const ended = await endFork(deps, held, { progress: latest, ending: afterMarker(latest) ?? ending });
    return { ...ended, cause: made.error };
  }
  const dispatched = made.result;
  const asked = { ...reached, phase: "dispatching" } as const;
  switch (dispatched.kind) {
    case "accepted":
      onStep?.("starting agent");
      return fromAccepted(deps, held, dispatched.progress);
    case "refused": {
      const message = `the agent refused: ${dispatched.why}`;
      return endFork(deps, held, {
        progress: asked,
        ending: { status: "failed", code: "fork_failed", message },
      });
    }
    case "unknown": {
      const message = `nobody can tell whether the agent forked its conversation: ${dispatched.why}`;
      return endFork(deps, held, {
        progress: asked,
        ending: { status: "unknown", code: "fork_unknown", message },
      });
    }
  }
}

/** An acceptance that could not be put on record is in doubt. */
function afterMarker({ phase }: ForkProgress): Ending | null {
  if (phase !== "dispatching") return null;
  const message = "what the agent answered could not be put on record";
  return { status: "unknown", code: "fork_unknown", message };
}

type Tried<Result> =
  | { readonly kind: "done"; readonly result: Result }
  | { readonly kind: "failure"; readonly error: unknown };

/** @throws AoError operation_in_progress: what is to be done is another process's then. */
async function orFailure<Result>(work: () => Promise<Result>): Promise<Tried<Result>> {
  try {
    return { kind: "done", result: await work() };
  } catch (error) {
    if (isAoError(error, "operation_in_progress")) throw error;
    return { kind: "failure", error };
  }
}

function failedBy(error: unknown): Ending {
  return { status: "failed", code: codeOf(error), message: errorMessage(error) };
}

async function requireConsistent(
  deps: SessionDeps,
  held: LeasedOperation,
  progress: ForkProgress,
): Promise<void> {
  const flaw = await provenInconsistency(deps, held, progress);
  if (flaw !== null) throw new AoError("fork_failed", flaw);
}

async function fromAccepted(
  deps: SessionDeps,
  held: LeasedOperation,
  progress: ForkProgress,
): Promise<ForkOutcome> {
  const { accepted, created } = progress;
  const flaw = await provenInconsistency(deps, held, progress);
  if (flaw !== null || accepted === null || created === null) {
    const message = flaw ?? "what the agent made is not on record";
    return endFork(deps, held, { progress, ending: { status: "failed", code: "fork_failed", message } });
  }
  const tried = await committing(deps, held, { ...progress, accepted, created });
  // The fork is made; a file that cannot be removed now goes with its launch folder.
  if (tried.kind === "committed") await dropEnvironment(deps, progress).catch(() => undefined);
  return tried;
}

async function committing(
  deps: SessionDeps,
  held: LeasedOperation,
  progress: AcceptedFork,
): Promise<ForkOutcome> {
  try {
    return { kind: "committed", ...(await commitFork(deps, held, progress)) };
  } catch (error) {
    const isLost = isAoError(error, "operation_in_progress");
    const isLasting = isAoError(error, "agent_session_unknown") || held.attempt >= MAX_ATTEMPTS;
    if (isLost || !isLasting) throw error;
    return endFork(deps, held, { progress, ending: failedBy(error) });
  }
}

interface End {
  readonly progress: ForkProgress;
  readonly ending: Ending;
}

/** Takes back what there is, and ends the operation; what the agent made stays, and is named. */
async function endFork(
  deps: SessionDeps,
  held: LeasedOperation,
  { progress, ending }: End,
): Promise<Extract<ForkOutcome, { readonly kind: "ended" }>> {
  const ledger = operationLedger(deps);
  const undoing = forkProgressJson({ ...progress, undoing: ending });
  await crossing(deps, "fork.undoing", () => ledger.checkpoint(held, undoing));
  const cause = new AoError("fork_failed", ending.message);
  const taken = await takeBack(await forkStepsLeft(deps, progress), cause);
  const passing = passingFailure(taken);
  if (passing !== undefined) throw passing.error;
  const { status, code, message } = ending;
  const result = toJson({ status, agentSessionId: conversationOf(progress), left: taken.left });
  const operation = await crossing(deps, "fork.fail", () =>
    ledger.fail(held, { error: { code, message }, result }),
  );
  return { kind: "ended", operation, left: taken.left };
}

/** What the agent has, or may have. */
function conversationOf({ accepted, phase, frozen }: ForkProgress): string | null {
  if (phase === "prepared") return null;
  return accepted === null ? frozen.seed.metadata.agentSessionId : accepted.agentSessionId;
}
