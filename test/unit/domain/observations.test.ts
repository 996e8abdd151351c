import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyActivitySignal } from "../../../src/domain/apply-activity-signal.ts";
import { applyPullRequest } from "../../../src/domain/apply-pull-request.ts";
import { applyRuntimeObservation } from "../../../src/domain/apply-runtime-observation.ts";
import { type CanonicalLifecycle, isTerminal } from "../../../src/domain/lifecycle.ts";
import { isSetByLiveness } from "../../../src/domain/liveness.ts";
import { aLifecycle, launchId, T0_MS } from "../../support/builders.ts";
import { anyLifecycle, anyObservation, anyPullRequest, anySignal, aTimeMs } from "./arbitraries.ts";

/** Later than any time that is heard of. */
const NOW_MS = T0_MS + 3_600_000;

type Change = (lifecycle: CanonicalLifecycle) => CanonicalLifecycle;

const aLook: fc.Arbitrary<Change> = fc.tuple(anyObservation, aTimeMs).map(
  ([look, nowMs]) =>
    (lifecycle) =>
      applyRuntimeObservation(lifecycle, look, { nowMs, digest: (text) => text }),
);
const aSignal: fc.Arbitrary<Change> = anySignal.map(
  (signal) => (lifecycle) =>
    applyActivitySignal(lifecycle, signal, { launchId: launchId("launch-1"), nowMs: NOW_MS }),
);
const aFetch: fc.Arbitrary<Change> = anyPullRequest.map(
  (facts) => (lifecycle) => applyPullRequest(lifecycle, facts),
);
const changes = fc.array(fc.oneof(aLook, aSignal, aFetch), { maxLength: 30 });

/** Every lifecycle on the way, the first one included. */
function path(start: CanonicalLifecycle, steps: readonly Change[]): readonly CanonicalLifecycle[] {
  let lifecycle = start;
  const rest = steps.map((step) => {
    lifecycle = step(lifecycle);
    return lifecycle;
  });
  return [start, ...rest];
}

describe("any sequence of looks, signals and fetches", () => {
  test("never reopens a terminal session, and changes nothing of it but its runtime", () => {
    fc.assert(
      fc.property(anyLifecycle.filter(isTerminal), changes, (start, steps) => {
        for (const lifecycle of path(start, steps)) {
          expect(lifecycle).toEqual({ ...start, runtime: lifecycle.runtime });
        }
      }),
    );
  });

  test("never opens again what it has itself ended", () => {
    fc.assert(
      fc.property(changes, (steps) => {
        const terminal = path(aLifecycle(), steps).map(isTerminal);
        const firstEnd = terminal.indexOf(true);
        if (firstEnd >= 0) expect(terminal.slice(firstEnd).every(Boolean)).toBe(true);
      }),
    );
  });

  test("keeps a memory of doubt exactly while a session is in doubt or stuck by it", () => {
    fc.assert(
      fc.property(changes, (steps) => {
        for (const { session, detecting } of path(aLifecycle(), steps)) {
          const isDoubt = session.state !== "terminated" && isSetByLiveness(session);
          expect(detecting !== null).toBe(isDoubt);
        }
      }),
    );
  });

  test("never moves the time of the last activity backwards", () => {
    fc.assert(
      fc.property(changes, (steps) => {
        const times = path(aLifecycle(), steps).map(({ activity }) => activity.lastActivityAtMs ?? 0);
        expect(times).toEqual(times.toSorted((one, other) => one - other));
      }),
    );
  });

  test("gives the same reference exactly when nothing changed", () => {
    fc.assert(
      fc.property(anyLifecycle, fc.oneof(aLook, aSignal, aFetch), (before, step) => {
        const after = step(before);
        const isEqual = JSON.stringify(after) === JSON.stringify(before);
        expect(after === before).toBe(isEqual);
      }),
    );
  });
});
