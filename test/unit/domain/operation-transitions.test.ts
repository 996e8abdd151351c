import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isFinished, isLeased, type Operation } from "../../../src/domain/operation.ts";
import { backoffMs } from "../../../src/domain/operation-schedule.ts";
import {
  type Claim,
  claimOperation,
  completeOperation,
  failOperation,
  type HolderFact,
  recordProgress,
  releaseOperation,
} from "../../../src/domain/operation-transitions.ts";
import { T0_MS } from "../../support/builders.ts";
import { aLease, aLeasedOperation, anOperation, anOperationIn, anOwner } from "../../support/operations.ts";

const completed = anOperationIn({ kind: "completed", result: "done", completedAtMs: T0_MS });
const failed = anOperationIn({ kind: "failed", error: { code: "git_failed", message: "no" }, result: null });
const LATER_MS = T0_MS + 10_000;

function aClaim(overrides: Partial<Claim> = {}): Claim {
  return {
    token: "token-2",
    owner: anOwner({ sinceMs: LATER_MS }),
    holder: "alive",
    evenIfNotDue: false,
    ...overrides,
  };
}

describe("claimOperation", () => {
  const dueLater = anOperation({ nextAttemptAtMs: LATER_MS + 1 });
  const leaseOver = aLeasedOperation();
  const setBack = anOperationIn(aLease({ expiresAtMs: T0_MS + 30_001 }));

  test.each<[string, Operation, Partial<Claim>, number]>([
    ["a due one", anOperation({ nextAttemptAtMs: LATER_MS }), {}, LATER_MS],
    ["one that is due later, when asked to", dueLater, { evenIfNotDue: true }, LATER_MS],
    ["one whose holder is dead, at once", aLeasedOperation(), { holder: "dead" }, LATER_MS],
    ["one whose lease is over", leaseOver, {}, leaseOver.state.expiresAtMs],
    [
      "one whose lease is over, of a holder that nobody can see",
      leaseOver,
      { holder: "unknown" },
      T0_MS + 30_000,
    ],
    [
      "one whose holder nobody can see, with a lease that none is as long as",
      setBack,
      { holder: "unknown" },
      T0_MS,
    ],
  ])("takes %s", (_what, operation, claim, nowMs) => {
    const owner = anOwner({ command: "ao reconcile", sinceMs: nowMs });
    expect(claimOperation(operation, aClaim({ owner, ...claim }), nowMs)).toEqual({
      kind: "claimed",
      operation: {
        ...operation,
        state: { kind: "leased", token: "token-2", owner, expiresAtMs: nowMs + 30_000 },
        attempt: operation.attempt + 1,
        version: operation.version + 1,
        updatedAtMs: nowMs,
      },
    });
  });

  test.each<[string, Operation, Partial<Claim>]>([
    ["held", aLeasedOperation(), {}],
    ["held", aLeasedOperation(), { evenIfNotDue: true }],
    ["held", aLeasedOperation(), { holder: "unknown" }],
    ["held", anOperationIn(aLease({ expiresAtMs: LATER_MS + 3_600_000 })), {}],
    ["held", anOperationIn(aLease({ expiresAtMs: LATER_MS + 30_000 })), { holder: "unknown" }],
    ["not_due", dueLater, {}],
    ["not_due", dueLater, { holder: "dead" }],
    ["finished", completed, { holder: "dead", evenIfNotDue: true }],
    ["finished", failed, { holder: "dead", evenIfNotDue: true }],
  ])("refuses as %s", (kind, operation, claim) => {
    const decision = claimOperation(operation, aClaim(claim), LATER_MS);
    expect(decision.kind).toBe(kind);
    expect(decision.operation).toBe(operation);
  });

  test("forgets why the attempt before did not finish it", () => {
    const decision = claimOperation(anOperation({ lastError: "tmux is missing" }), aClaim(), T0_MS);
    expect(decision.operation.lastError).toBeNull();
  });
});

describe("a holder", () => {
  const token = "token-1";
  const held = aLeasedOperation({ attempt: 3, version: 7, progress: { step: 1 } });

  test("records progress and has its lease renewed", () => {
    expect(recordProgress(held, { token, progress: { step: 2 } }, LATER_MS)).toEqual({
      kind: "changed",
      operation: {
        ...held,
        state: aLease({ expiresAtMs: LATER_MS + 30_000 }),
        progress: { step: 2 },
        version: 8,
        updatedAtMs: LATER_MS,
      },
    });
  });

  test("releases it with progress and schedule at once", () => {
    const release = { token, progress: { marker: true }, lastError: "tmux did not answer" };
    expect(releaseOperation(held, release, LATER_MS)).toEqual({
      kind: "changed",
      operation: {
        ...held,
        state: { kind: "prepared", nextAttemptAtMs: LATER_MS + 4_000 },
        progress: { marker: true },
        lastError: "tmux did not answer",
        version: 8,
        updatedAtMs: LATER_MS,
      },
    });
  });

  test("completes it with a result", () => {
    expect(completeOperation(held, { token, result: { freed: true } }, LATER_MS)).toEqual({
      kind: "changed",
      operation: {
        ...held,
        state: { kind: "completed", result: { freed: true }, completedAtMs: LATER_MS },
        version: 8,
        updatedAtMs: LATER_MS,
      },
    });
  });

  test("fails it with an error and what is left", () => {
    const error = { code: "teardown_incomplete", message: "the worktree stays" };
    expect(failOperation(held, { token, error, result: { left: [] } }, LATER_MS)).toEqual({
      kind: "changed",
      operation: {
        ...held,
        state: { kind: "failed", error, result: { left: [] } },
        version: 8,
        updatedAtMs: LATER_MS,
      },
    });
  });

  test("whose lease is over still holds it while nobody else took it", () => {
    expect(completeOperation(held, { token, result: null }, T0_MS + 3_600_000).kind).toBe("changed");
  });

  test("never dates a row back when the clock jumps", () => {
    const { operation } = completeOperation(held, { token, result: null }, T0_MS - 3_600_000);
    expect(operation.updatedAtMs).toBe(T0_MS);
  });

  test.each<[string, Operation]>([
    ["held by another claim", anOperationIn(aLease({ token: "token-2" }))],
    ["prepared", anOperation()],
    ["completed", completed],
    ["failed", failed],
  ])("of a token that is not the one of an operation that is %s changes nothing", (_state, operation) => {
    const error = { code: "internal", message: "no" };
    for (const decision of [
      recordProgress(operation, { token, progress: 1 }, LATER_MS),
      releaseOperation(operation, { token, progress: 1, lastError: "no" }, LATER_MS),
      completeOperation(operation, { token, result: 1 }, LATER_MS),
      failOperation(operation, { token, error, result: 1 }, LATER_MS),
    ]) {
      expect(decision.kind).toBe("lost");
      expect(decision.operation).toBe(operation);
    }
  });

  test("the pinned cancel: 1 s after the first attempt, 2 s after the second", () => {
    let operation: Operation = anOperation();
    for (const [nowMs, dueMs] of [
      [1_000, 2_000],
      [2_000, 4_000],
    ] as const) {
      operation = claimOperation(operation, aClaim({ evenIfNotDue: nowMs === 1_000 }), nowMs).operation;
      const release = { token: "token-2", progress: null, lastError: "unconfirmed" };
      operation = releaseOperation(operation, release, nowMs).operation;
      expect(operation.state).toEqual({ kind: "prepared", nextAttemptAtMs: dueMs });
    }
  });
});

interface Event {
  readonly name: "claim" | "progress" | "release" | "complete" | "fail";
  /** Chooses among the tokens of all claims so far, refused ones and the newest included. */
  readonly pick: number;
  readonly elapsedMs: number;
  readonly holder: HolderFact;
  readonly evenIfNotDue: boolean;
}

interface Step {
  readonly before: Operation;
  readonly after: Operation;
  readonly event: Event;
  readonly token: string;
  readonly nowMs: number;
}

const anyEvents: fc.Arbitrary<readonly Event[]> = fc.array(
  fc.record({
    name: fc.constantFrom("claim", "claim", "progress", "release", "complete", "fail"),
    pick: fc.nat({ max: 100 }),
    elapsedMs: fc.constantFrom(0, 1, 900, 5_000, 31_000, 600_000, -5_000, -3_600_000),
    holder: fc.constantFrom("alive", "dead", "unknown"),
    evenIfNotDue: fc.boolean(),
  }),
  { maxLength: 40 },
);

function play(events: readonly Event[]): readonly Step[] {
  const steps: Step[] = [];
  const tokens = ["never"];
  let after: Operation = anOperation();
  let nowMs = T0_MS;
  for (const event of events) {
    const before = after;
    nowMs += event.elapsedMs;
    if (event.name === "claim") tokens.push(`claim-${tokens.length}`);
    const picked = event.name === "claim" ? tokens.at(-1) : tokens.at(-1 - (event.pick % tokens.length));
    const token = picked ?? "";
    after = apply(before, event, token, nowMs);
    steps.push({ before, after, event, token, nowMs });
  }
  return steps;
}

function apply(operation: Operation, event: Event, token: string, nowMs: number): Operation {
  const { holder, evenIfNotDue } = event;
  const owner = anOwner({ sinceMs: nowMs });
  const error = { code: "internal", message: "no" };
  switch (event.name) {
    case "claim":
      return claimOperation(operation, { token, owner, holder, evenIfNotDue }, nowMs).operation;
    case "progress":
      return recordProgress(operation, { token, progress: nowMs }, nowMs).operation;
    case "release":
      return releaseOperation(operation, { token, progress: nowMs, lastError: "no" }, nowMs).operation;
    case "complete":
      return completeOperation(operation, { token, result: nowMs }, nowMs).operation;
    case "fail":
      return failOperation(operation, { token, error, result: null }, nowMs).operation;
  }
}

function everyStep(check: (step: Step) => void): void {
  fc.assert(
    fc.property(anyEvents, (events) => {
      play(events).forEach(check);
    }),
  );
}

const hasChanged = ({ before, after }: Step) => after !== before;
const isClaim = (step: Step) => step.event.name === "claim" && hasChanged(step);
const isHolder = ({ before, token }: Step) => isLeased(before) && before.state.token === token;

describe("any sequence of events", () => {
  test("reaches every state", () => {
    const samples = fc.sample(anyEvents, 500).flatMap(play);
    const reached = new Set(samples.map(({ after }) => after.state.kind));
    expect([...reached].sort()).toEqual(["completed", "failed", "leased", "prepared"]);
    expect(samples.some((step) => hasChanged(step) && step.before.attempt > 2)).toBe(true);
  });

  test("keeps what was asked, and when", () => {
    const { id, kind, projectId, sessionId, subject, input, createdAtMs } = anOperation();
    everyStep(({ after }) => {
      expect(after).toMatchObject({ id, kind, projectId, sessionId, subject, input, createdAtMs });
    });
  });

  test("grows the version by one with every change, and not without one", () => {
    everyStep((step) => {
      expect(step.after.version).toBe(step.before.version + (hasChanged(step) ? 1 : 0));
    });
  });

  test("counts an attempt for every claim, and for nothing else", () => {
    everyStep((step) => {
      expect(step.after.attempt).toBe(step.before.attempt + (isClaim(step) ? 1 : 0));
    });
  });

  test("leaves nothing but prepared without an attempt, and a reason only with what was released", () => {
    everyStep(({ after: { state, attempt, lastError } }) => {
      expect(state.kind === "prepared" || attempt > 0).toBe(true);
      expect(lastError === null || state.kind === "prepared").toBe(true);
    });
  });

  test("never moves the times of a row back", () => {
    everyStep(({ before, after }) => {
      expect(after.updatedAtMs).toBeGreaterThanOrEqual(before.updatedAtMs);
      expect(after.updatedAtMs).toBeGreaterThanOrEqual(after.createdAtMs);
    });
  });

  test("never changes what is completed or failed", () => {
    everyStep(({ before, after }) => {
      if (isFinished(before)) expect(after).toBe(before);
    });
  });

  test("never lets a stale token change anything", () => {
    everyStep((step) => {
      expect(!hasChanged(step) || isClaim(step) || isHolder(step)).toBe(true);
    });
  });

  test("leaves the holder alone until it is dead or its lease is over, or one that nobody can see has an impossible one", () => {
    everyStep((step) => {
      const { before, event, nowMs } = step;
      if (!isLeased(before) || !isClaim(step)) return;
      const { expiresAtMs } = before.state;
      const isImpossible = event.holder === "unknown" && expiresAtMs > nowMs + 30_000;
      expect(event.holder === "dead" || expiresAtMs <= nowMs || isImpossible).toBe(true);
    });
  });

  test("gives every lease and every wait its exact length", () => {
    everyStep(({ before, after: { state, attempt }, nowMs }) => {
      if (state === before.state) return;
      if (state.kind === "leased") expect(state.expiresAtMs).toBe(nowMs + 30_000);
      if (state.kind === "prepared") expect(state.nextAttemptAtMs).toBe(nowMs + backoffMs(attempt));
    });
  });
});
