import { expect, test } from "vitest";
import { HOOK_EVENTS, interpretClaude } from "../../../../../src/adapters/agents/claude-code/interpret.ts";
import { CONVERSATION, hookEvent, payloads } from "./recorded.ts";

const said = (event: string, body: string) => interpretClaude(hookEvent(event, body));
const first = (event: string) => said(event, payloads(event)[0] ?? "");

test("each recorded payload is of a hook that is asked for, and is understood", () => {
  const known = HOOK_EVENTS.flatMap((event) => payloads(event).map((body) => said(event, body)));
  expect(known).toHaveLength(12);
  expect(known.every((signal) => signal !== undefined)).toBe(true);
});

test("a prompt is the receipt of its text, and names the conversation", () => {
  expect(first("UserPromptSubmit")).toEqual({
    activity: "active",
    agentSessionId: CONVERSATION,
    turn: { kind: "submitted", text: "first prompt" },
  });
});

test("a prompt that claude gave itself is nobody's", () => {
  const body = JSON.stringify({ session_id: CONVERSATION, prompt: "<task-notification>\nended" });
  expect(said("UserPromptSubmit", body)?.turn).toMatchObject({ kind: "submitted", byAgent: true });
});

test("a request for permission is a wait that no message answers, and a tool's end ends it", () => {
  expect(first("PermissionRequest")).toMatchObject({ activity: "waiting_input", asks: "permission" });
  expect(first("PostToolUse")?.activity).toBe("active");
});

test("the end of a turn, with and without an error, is in its log too", () => {
  expect(first("Stop")).toMatchObject({ activity: "ready", turn: { kind: "stopped" }, logged: true });
  expect(first("StopFailure")).toMatchObject({
    activity: "blocked",
    turn: { kind: "failed", message: "API Error: 400 scripted 400" },
    logged: true,
  });
});

test("a start says nothing of readiness, as the first screen is drawn later", () => {
  expect(first("SessionStart")).toEqual({ activity: null, agentSessionId: null });
  expect(said("SessionStart", '{"source":"clear"}')?.activity).toBe("ready");
});

test.each([
  ["prompt_input_exit", "exited"],
  ["other", "exited"],
  ["clear", null],
  ["resume", null],
])("the end of a session for the reason %s means %s", (reason, activity) => {
  expect(said("SessionEnd", JSON.stringify({ reason }))?.activity).toBe(activity);
});

test.each([
  ["permission_prompt", "waiting_input"],
  ["idle_prompt", null],
])("the notification %s means %s", (type, activity) => {
  expect(said("Notification", JSON.stringify({ notification_type: type }))?.activity).toBe(activity);
});

test("a session id that is no UUID names nobody", () => {
  const body = JSON.stringify({ session_id: "../../etc", prompt: "x" });
  expect(said("UserPromptSubmit", body)?.agentSessionId).toBeNull();
});
