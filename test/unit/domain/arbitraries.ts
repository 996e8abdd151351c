import fc from "fast-check";
import type {
  ActivitySignal,
  ProcessFact,
  PullRequestFacts,
  RuntimeFact,
  RuntimeObservation,
} from "../../../src/domain/facts.ts";
import { SIGNAL_CONFIDENCES } from "../../../src/domain/facts.ts";
import {
  ACTIVITY_SOURCES,
  ACTIVITY_STATES,
  type CanonicalLifecycle,
  PR_REASONS,
  PR_STATES,
  RUNTIME_REASONS,
  RUNTIME_STATES,
  SESSION_REASONS,
  SESSION_STATES,
  type SessionSubstate,
} from "../../../src/domain/lifecycle.ts";
import { launchId, T0_MS } from "../../support/builders.ts";

/** Any text: every UTF-16 code unit, halves of pairs included, and often those that mean something. */
export const anyText: fc.Arbitrary<string> = fc.string({
  unit: fc.oneof(
    fc.nat(0xffff).map((unit) => String.fromCharCode(unit)),
    fc.constantFrom(..."aZ09 -_./\\#$()~^:@{}\0\n\r\té", "🚀", "\u202e", "\u001b["),
  ),
});

/** A moment within ten minutes of `T0_MS`, in steps that make equal ones likely. */
export const aTimeMs: fc.Arbitrary<number> = fc
  .integer({ min: -20, max: 20 })
  .map((steps) => T0_MS + steps * 30_000);

/** Every session substate, also those that no rule makes. */
const anySession: fc.Arbitrary<SessionSubstate> = fc.record({
  state: fc.constantFrom(...SESSION_STATES),
  reason: fc.option(fc.constantFrom(...SESSION_REASONS)),
});

/** Every combination of substates, also those that no rule makes. */
export const anyLifecycle: fc.Arbitrary<CanonicalLifecycle> = fc.record({
  version: fc.constant(1 as const),
  revision: fc.integer({ min: 1, max: 9 }),
  session: anySession,
  pr: fc.record({
    state: fc.constantFrom(...PR_STATES),
    reason: fc.constantFrom(...PR_REASONS),
    number: fc.option(fc.integer({ min: 1, max: 3 })),
    url: fc.option(fc.constant("https://example.test/o/r/pull/1")),
  }),
  runtime: fc.record({
    state: fc.constantFrom(...RUNTIME_STATES),
    reason: fc.constantFrom(...RUNTIME_REASONS),
  }),
  activity: fc.record({
    state: fc.option(fc.constantFrom(...ACTIVITY_STATES)),
    lastActivityAtMs: fc.option(aTimeMs),
    source: fc.constantFrom(...ACTIVITY_SOURCES),
  }),
  detecting: fc.option(
    fc.record({
      attempts: fc.integer({ min: 1, max: 3 }),
      startedAtMs: aTimeMs,
      evidenceHash: fc.constantFrom("one", "other"),
    }),
  ),
});

const aCause = fc.constantFrom("no answer within 2 s", "connection refused");

export const anyRuntimeFact: fc.Arbitrary<RuntimeFact> = fc.oneof(
  fc.record({ kind: fc.constant("alive" as const), lastOutputAtMs: fc.option(aTimeMs) }),
  fc.record({
    kind: fc.constant("exited" as const),
    exitStatus: fc.option(fc.integer({ min: 0, max: 2 })),
    signal: fc.option(fc.constant("SIGKILL")),
  }),
  fc.constant({ kind: "missing" as const }),
  fc.constant({ kind: "unknown" as const }),
  fc.record({ kind: fc.constant("probe_failed" as const), cause: aCause }),
);

export const anyProcessFact: fc.Arbitrary<ProcessFact> = fc.oneof(
  fc.constantFrom<ProcessFact[]>(
    { kind: "alive" },
    { kind: "dead" },
    { kind: "dead", ofAnotherBoot: true },
    { kind: "indeterminate" },
  ),
  fc.record({ kind: fc.constant("probe_failed" as const), cause: aCause }),
);

export const anyObservation: fc.Arbitrary<RuntimeObservation> = fc.record({
  runtime: anyRuntimeFact,
  process: anyProcessFact,
});

/** Signals of launches 1 and 2, of any confidence. */
export const anySignal: fc.Arbitrary<ActivitySignal> = fc.record({
  state: fc.constantFrom(...ACTIVITY_STATES),
  confidence: fc.constantFrom(...SIGNAL_CONFIDENCES),
  source: fc.constantFrom(...ACTIVITY_SOURCES),
  atMs: aTimeMs,
  launchId: fc.constantFrom(launchId("launch-1"), launchId("launch-2")),
});

const aPullRequestName = {
  number: fc.integer({ min: 1, max: 3 }),
  url: fc.constant("https://example.test/o/r/pull/1"),
};

export const anyPullRequest: fc.Arbitrary<PullRequestFacts> = fc.oneof(
  fc.record({ kind: fc.constant("merged" as const), ...aPullRequestName }),
  fc.record({ kind: fc.constant("closed" as const), ...aPullRequestName }),
  fc.record({
    kind: fc.constant("open" as const),
    ...aPullRequestName,
    draft: fc.boolean(),
    ci: fc.constantFrom("none", "pending", "passing", "failing"),
    review: fc.constantFrom("none", "pending", "approved", "changes_requested"),
    humanComments: fc.boolean(),
    botComments: fc.boolean(),
    conflicts: fc.boolean(),
    mergeable: fc.boolean(),
    idleBeyondThreshold: fc.boolean(),
  }),
);
