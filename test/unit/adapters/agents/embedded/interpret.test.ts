import { describe, expect, test } from "vitest";
import { interpretEmbedded } from "../../../../../src/adapters/agents/embedded/interpret.ts";
import type { ActivityState } from "../../../../../src/domain/lifecycle.ts";
import type { TurnSignal } from "../../../../../src/domain/turn-signal.ts";

const ID = "5f0c1f6e-0d5b-4b8e-9c8e-2f4f7a8b9c0d";

function interpret(event: string, body: unknown) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const base = { id: "1", sessionId: "app-7", launchId: "l-1", agent: "embedded", atMs: 1 };
  return interpretEmbedded({ ...base, event, body: text });
}

describe("what an event of the embedded agent means", () => {
  test.each<[string, object, ActivityState]>([
    ["session_start", { source: "startup" }, "ready"],
    ["submit", { prompt: "say hi" }, "active"],
    ["waiting", { question: "why?" }, "waiting_input"],
    ["resumed", { question: "why?" }, "active"],
    ["turn_end", { outcome: "completed", error: null }, "ready"],
    ["turn_end", { outcome: "failed", error: "no" }, "blocked"],
    ["turn_end", { outcome: "interrupted", error: null }, "idle"],
    ["session_end", { reason: "user" }, "exited"],
  ])("%s with %j is %s", (event, body, activity) => {
    expect(interpret(event, { session_id: ID, ...body })).toMatchObject({ activity, agentSessionId: ID });
  });

  test.each<[string, object, TurnSignal | null]>([
    ["session_start", { source: "startup" }, null],
    ["submit", { prompt: "say hi" }, { kind: "submitted", text: "say hi" }],
    ["submit", { prompt: "yes", answers: true }, { kind: "answered", text: "yes" }],
    ["waiting", { question: "why?" }, null],
    ["resumed", { question: "why?" }, null],
    ["turn_end", { outcome: "completed", error: null }, { kind: "stopped" }],
    ["turn_end", { outcome: "failed", error: "no" }, { kind: "failed", code: "agent_error", message: "no" }],
    ["turn_end", { outcome: "interrupted", error: null }, { kind: "interrupted" }],
    ["session_end", { reason: "user" }, null],
  ])("%s with %j says of a turn: %j", (event, body, turn) => {
    expect(interpret(event, { session_id: ID, ...body })?.turn).toEqual(turn);
  });

  test("a submission is a receipt of its text, byte for byte", () => {
    const prompt = "a\r\nb \u001b[31m😀\u2028";
    expect(interpret("submit", { session_id: ID, prompt })?.turn).toMatchObject({ text: prompt });
  });

  test("a submission too large to be told is activity without a text", () => {
    const signal = interpret("submit", { session_id: ID, prompt: null });
    expect(signal).toEqual({
      ...{ activity: "active", agentSessionId: ID },
      turn: { kind: "submitted", text: null },
    });
  });

  test("an id that is no conversation id is left out", () => {
    expect(interpret("waiting", { session_id: "../x" })?.agentSessionId).toBeNull();
  });

  test.each([
    ["an unknown event", "Stop", {}],
    ["an event named like an object's own property", "constructor", {}],
    ["a body that is no JSON", "submit", "{"],
    ["a body that is no object", "submit", '"text"'],
    ["a body of null", "submit", "null"],
    ["a submission without a text", "submit", {}],
    ["a submission of a number", "submit", { prompt: 4 }],
    ["a turn that ended in no known way", "turn_end", { outcome: "exploded" }],
    ["a turn that ended without saying how", "turn_end", {}],
  ])("%s means nothing", (_name, event, body) => {
    expect(interpret(event, body)).toBeUndefined();
  });
});
