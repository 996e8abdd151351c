import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CancelAnswer } from "../../../src/domain/cancel-answer.ts";
import { type CancelStep, decideCancel } from "../../../src/domain/decide-cancel.ts";

const FIRST = { attempt: 1, ageMs: 0 };
const detail = "no evidence";
const ANSWERS: { readonly [Kind in CancelAnswer["kind"]]: Extract<CancelAnswer, { readonly kind: Kind }> } = {
  confirmed: { kind: "confirmed" },
  target_absent: { kind: "target_absent" },
  state_lost: { kind: "state_lost", detail },
  delivery_unconfirmed: { kind: "delivery_unconfirmed", detail },
  disconnected: { kind: "disconnected", detail },
  error: { kind: "error", code: "delivery_failed", message: detail },
};
const canceled = (confirmed: boolean): CancelStep => ({ kind: "canceled", confirmed });
const again = (marker: boolean, why = detail): CancelStep => ({ kind: "retry", marker, why });
const failed: CancelStep = { kind: "failed", error: { code: "delivery_failed", message: detail } };
const ABSENT = "nothing runs, and an earlier try may have stopped it or not";

describe("an answer to a cancellation", () => {
  test.each<[CancelAnswer["kind"], CancelStep, CancelStep]>([
    ["confirmed", canceled(true), canceled(true)],
    ["target_absent", canceled(false), again(true, ABSENT)],
    ["state_lost", { kind: "unknown", why: detail }, { kind: "unknown", why: detail }],
    ["delivery_unconfirmed", again(true), again(true)],
    ["disconnected", again(false), again(true)],
    ["error", failed, failed],
  ])("%s without a marker and with one", (kind, without, withMarker) => {
    expect(decideCancel(ANSWERS[kind], { ...FIRST, marker: false })).toEqual(without);
    expect(decideCancel(ANSWERS[kind], { ...FIRST, marker: true })).toEqual(withMarker);
  });
});

describe("a cancellation that does not come to an end", () => {
  test.each<[number, number, CancelStep["kind"]]>([
    [23, 599_999, "retry"],
    [24, 0, "unknown"],
    [1, 600_000, "unknown"],
    [23, -3_600_000, "retry"],
  ])("in try %i at an age of %i ms is %s", (attempt, ageMs, kind) => {
    const step = decideCancel(ANSWERS.disconnected, { marker: false, attempt, ageMs });
    expect(step.kind).toBe(kind);
  });

  test("says how often it was tried, and why in vain", () => {
    expect(decideCancel(ANSWERS.disconnected, { marker: false, attempt: 24, ageMs: 0 })).toEqual({
      kind: "unknown",
      why: "the agent could not be stopped in 24 tries: no evidence",
    });
  });
});

test("a marker never goes away, and only an agent's own word is a confirmation", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.values(ANSWERS)),
      fc.record({ marker: fc.boolean(), attempt: fc.integer({ min: 1, max: 30 }), ageMs: fc.integer() }),
      (answer, tried) => {
        const step = decideCancel(answer, tried);
        if (step.kind === "retry" && tried.marker) expect(step.marker).toBe(true);
        if (step.kind === "canceled" && step.confirmed) expect(answer.kind).toBe("confirmed");
        if (step.kind === "canceled" && tried.marker) expect(answer.kind).toBe("confirmed");
      },
    ),
  );
});
