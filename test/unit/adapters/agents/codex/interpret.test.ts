import { describe, expect, test } from "vitest";
import {
  HOOK_EVENTS,
  interpretCodex,
  OWN_EVENTS,
} from "../../../../../src/adapters/agents/codex/interpret.ts";
import { CONVERSATION, hookEvent, payloads } from "./recorded.ts";

const signals = (event: string) => payloads(event).map((body) => interpretCodex(hookEvent(event, body)));

describe("the hooks of codex 0.171.0, as they were recorded", () => {
  test("a submitted prompt is the receipt, and names the conversation", () => {
    expect(signals("UserPromptSubmit").slice(0, 2)).toEqual(
      ["make it [[bash touch made]]", "fail [[err 400]]"].map((text) => ({
        ...{ activity: "active", agentSessionId: CONVERSATION, turn: { kind: "submitted", text } },
      })),
    );
  });

  test.each([
    ["SessionStart", { activity: null, agentSessionId: CONVERSATION }],
    ["PermissionRequest", { activity: "waiting_input", asks: "permission", agentSessionId: null }],
    ["PostToolUse", { activity: "active", agentSessionId: null }],
    ["Stop", { activity: "ready", agentSessionId: CONVERSATION, turn: { kind: "stopped" }, logged: true }],
    [
      "Interrupt",
      { activity: "idle", agentSessionId: CONVERSATION, turn: { kind: "interrupted" }, logged: true },
    ],
  ])("%s says what it does", (event, signal) => {
    expect(signals(event)[0]).toEqual(signal);
  });

  test("each hook that it is asked to send is read, and was recorded", () => {
    expect(HOOK_EVENTS.filter((event) => signals(event)[0] === undefined)).toEqual([]);
  });

  test("each event of its own log is read", () => {
    const body = JSON.stringify({ session_id: CONVERSATION, code: "usage_limit", message: "no more" });
    expect(OWN_EVENTS.map((event) => interpretCodex(hookEvent(event, body))?.activity)).toEqual([
      ...["active", "blocked", "idle", "ready"],
    ]);
    expect(interpretCodex(hookEvent("ao:failed", body))?.turn).toEqual({
      ...{ kind: "failed", code: "usage_limit", message: "no more" },
    });
  });

  test("of a sub-agent only that it asks for leave counts: its prompt is no turn, and names no conversation", () => {
    const ofSubAgent = (body: string) => ({
      ...(JSON.parse(body) as object),
      agent_id: "01a22f0f",
      agent_type: "x",
    });
    const told = HOOK_EVENTS.map((event) => {
      const body = JSON.stringify(ofSubAgent(payloads(event)[0] ?? ""));
      return [event, interpretCodex(hookEvent(event, body))] as const;
    });
    const loud = told.filter(([, signal]) => signal?.activity !== null || signal.agentSessionId !== null);
    expect(loud).toEqual([
      ["PermissionRequest", { activity: "waiting_input", asks: "permission", agentSessionId: null }],
    ]);
  });

  test("a name that is no conversation's names none", () => {
    const body = JSON.stringify({ session_id: "../../etc/passwd" });
    expect(interpretCodex(hookEvent("Stop", body))).toMatchObject({ agentSessionId: null });
  });

  test.each(["", "[", "7", '{"prompt":7}'])("%j as a submission says nothing", (body) => {
    expect(interpretCodex(hookEvent("UserPromptSubmit", body))).toBeUndefined();
  });
});
