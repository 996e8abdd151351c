import { expect, test } from "vitest";
import { HOOK_EVENTS, interpretOpencode } from "../../../../../src/adapters/agents/opencode/interpret.ts";
import { CONVERSATION, hookEvent, payloads } from "./recorded.ts";

const said = (event: string, body: string) => interpretOpencode(hookEvent(event, body));
const all = (event: string) => payloads(event).map((body) => said(event, body));

test("each recorded payload is of an event that the plugin tells, and is understood", () => {
  const known = HOOK_EVENTS.flatMap(all);
  expect(known).toHaveLength(14);
  expect(known.every((signal) => signal !== undefined)).toBe(true);
});

test("a prompt is the receipt of its text and names the conversation; during a turn it begins none", () => {
  const texts = all("chat.message");
  expect(texts[0]).toEqual({
    activity: "active",
    agentSessionId: CONVERSATION,
    turn: { kind: "submitted", text: "first prompt [[bash touch made]] [[text made it]]" },
  });
  expect(texts.at(-2)?.turn).toEqual({ kind: "submitted", text: "two lines\nof it [[slow 6]]" });
  expect(texts.at(-1)?.turn).toEqual({ kind: "answered", text: "steered" });
});

test("a turn ends by itself, by a person's interrupt, by a no at a question, and by an error", () => {
  const ends = all("session.idle").map((signal) => [signal?.activity, signal?.turn, signal?.logged]);
  expect(ends).toEqual([
    ["ready", { kind: "stopped" }, true],
    ["idle", { kind: "interrupted" }, true],
    ["idle", { kind: "interrupted" }, true],
    ["blocked", { kind: "failed", code: "APIError", message: "fake 400" }, true],
    ["ready", { kind: "stopped" }, true],
  ]);
});

test("a question for leave is a wait that no message answers, until it was answered", () => {
  expect(all("permission.asked")).toMatchObject([{ activity: "waiting_input", asks: "permission" }]);
  expect(all("permission.replied")).toMatchObject([{ activity: "active" }]);
});

test("what names no conversation, and what is malformed, names nobody", () => {
  expect(said("chat.message", '{"sessionID":"../../etc","text":"x"}')?.agentSessionId).toBeNull();
  expect(said("chat.message", '{"sessionID":"ses_0123456789ab"}')).toBeUndefined();
  expect(said("session.idle", "[")).toBeUndefined();
  expect(said("session.deleted", "{}")).toBeUndefined();
});
