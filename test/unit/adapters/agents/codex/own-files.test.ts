import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { codexFolder, findRollout } from "../../../../../src/adapters/agents/codex/codex-files.ts";
import { entriesIn } from "../../../../../src/adapters/agents/codex/conversation-entries.ts";
import { readOwnEvents } from "../../../../../src/adapters/agents/codex/own-events.ts";
import { readRollout } from "../../../../../src/adapters/agents/codex/read-rollout.ts";
import { toolMarks } from "../../../../../src/adapters/agents/codex/tool-marks.ts";
import { parseLaunchId, parseSessionId } from "../../../../../src/domain/ids.ts";
import { tempDir } from "../../../../support/temp-dir.ts";
import { CONVERSATION, layRollout, recorded, WORKSPACE } from "./recorded.ts";

const LINES = recorded("rollout.jsonl").trimEnd().split("\n");
const [sessionId, launchId] = [parseSessionId("app-1"), parseLaunchId("l-1")];

/** Of the lines with this text, the place of one, from 1. */
const lineWith = (text: string, which = 0) =>
  LINES.flatMap((line, index) => (line.includes(text) ? [index + 1] : [])).at(which) ?? Number.NaN;
const timeOfLine = (line: number) =>
  Date.parse((JSON.parse(LINES[line - 1] ?? "{}") as { readonly timestamp: string }).timestamp);

interface Asked {
  /** The log up to this line. */
  readonly through: number;
  /** How long after that line. */
  readonly afterMs?: number;
  /** How long before that line the launch began. */
  readonly launchedMs?: number;
  readonly agentSessionId?: string | null;
}

async function told({ through, afterMs = 0, launchedMs = 60_000, agentSessionId = CONVERSATION }: Asked) {
  if (sessionId === undefined || launchId === undefined) throw new Error("bad ids");
  const folder = tempDir();
  layRollout(folder, { content: `${LINES.slice(0, through).join("\n")}\n` });
  const [launchDir, atMs] = [join(folder, "launch"), timeOfLine(through)];
  mkdirSync(launchDir);
  writeFileSync(join(launchDir, "hook.sh"), "");
  utimesSync(join(launchDir, "hook.sh"), new Date(atMs - launchedMs), new Date(atMs - launchedMs));
  const events = await readOwnEvents(folder, {
    ...{ sessionId, launchId, pid: 1, launchDir, agentSessionId, workspacePath: WORKSPACE },
    ...{ dataDir: folder, home: null, nowMs: atMs + afterMs },
  });
  return events.map((event) => ({ event: event.event, isThen: event.atMs === atMs, body: event.body }));
}

describe("what the log of codex tells of a launch", () => {
  const failed = lineWith('"error":{"message"');

  test("an error of the model's service at once, as no hook tells it", async () => {
    const [event] = await told({ through: failed });
    expect(event).toMatchObject({ event: "ao:failed", isThen: true });
    expect(JSON.parse(event?.body ?? "")).toMatchObject({
      ...{ code: "agent_error", message: expect.stringContaining("fake 400"), session_id: CONVERSATION },
    });
  });

  test.each([
    ["ao:stopped", lineWith('"type":"task_complete"')],
    ["ao:interrupted", lineWith('"type":"turn_aborted"')],
  ])("%s once its hook must be lost", async (event, through) => {
    expect(await told({ through, afterMs: 4_000 })).toEqual([]);
    expect(await told({ through, afterMs: 6_000 })).toMatchObject([{ event, isThen: true }]);
  });

  test("that a tool has given a result, also one that went on in the background", async () => {
    expect(await told({ through: lineWith('"type":"function_call_output"') })).toMatchObject([
      { event: "ao:busy", isThen: true },
    ]);
  });

  test("nothing once another turn has begun, of an earlier launch, or of a conversation without a name", async () => {
    expect(await told({ through: lineWith('"type":"task_started"', 2), afterMs: 60_000 })).toEqual([]);
    expect(await told({ through: failed, launchedMs: -1 })).toEqual([]);
    expect(await told({ through: failed, agentSessionId: null })).toEqual([]);
    expect(await told({ through: failed, agentSessionId: "../x" })).toEqual([]);
  });

  test("the calls of the last turn alone mark the tools that an interrupt leaves", async () => {
    const folder = tempDir();
    layRollout(folder);
    const marks = await toolMarks(folder, { agentSessionId: CONVERSATION });
    expect(marks).toEqual([{ name: "CODEX_TOOL_CALL_ID", value: expect.stringMatching(/^call_/) }]);
    expect(await toolMarks(folder, { agentSessionId: null })).toEqual([]);
  });
});

describe("a conversation in the files of codex", () => {
  test("is found on whichever day it began, and is this session's only when it began in its workspace", async () => {
    const folder = tempDir();
    const other = CONVERSATION.replace("01a", "02a");
    const path = layRollout(folder);
    layRollout(folder, { id: other, day: "12/01" });
    expect(await findRollout(folder, CONVERSATION)).toBe(path);
    expect(await readRollout(folder, CONVERSATION, WORKSPACE)).toBe(recorded("rollout.jsonl"));
    expect(await readRollout(folder, CONVERSATION, `${WORKSPACE}-2`)).toBeUndefined();
    // The name of the file says one thing, and the log another.
    expect(await readRollout(folder, other, WORKSPACE)).toBeUndefined();
  });

  test.each(["*", "", "..", `../${CONVERSATION}`, CONVERSATION.toUpperCase()])(
    "%j names none",
    async (id) => {
      const folder = tempDir();
      layRollout(folder);
      expect(await findRollout(folder, id)).toBeUndefined();
    },
  );

  test("lies in CODEX_HOME when that is set", () => {
    expect(codexFolder({ HOME: "/home/dev", CODEX_HOME: "/data/codex" })).toBe("/data/codex");
    expect(codexFolder({ HOME: "/home/dev", CODEX_HOME: "" })).toBe("/home/dev/.codex");
  });

  test("says what people, the model and its tools said, each turn with its beginning and its end", () => {
    const entries = entriesIn(recorded("rollout.jsonl"));
    expect(entries.map(({ role, text, edge }) => [role, edge ?? "", text?.slice(0, 28)])).toEqual([
      ["user", "start", "make it [[bash touch made]]"],
      ["tool", "", "exec_command touch made"],
      ["assistant", "", "FINAL after 1 tool result(s)"],
      ["system", "end", "completed"],
      ["user", "start", "fail [[err 400]]"],
      ["system", "end", 'failed: {"error":{"message":'],
      ["user", "start", "think [[hang 20]]"],
      ["system", "end", "interrupted"],
      ["user", "start", 'ask [[tool exec_command {"cm'],
      ["tool", "", "exec_command touch /home/dev"],
      ["assistant", "", "FINAL after 1 tool result(s)"],
      ["system", "end", "completed"],
      ["user", "start", "long [[bash sleep 33]]"],
      ["system", "end", "interrupted"],
    ]);
    expect(entries.map(({ after }) => after)).toEqual([
      null,
      ...entries.slice(0, -1).map(({ position }) => position),
    ]);
  });

  test("takes a message inside a turn for no new turn", () => {
    const prompt = lineWith('"type":"UserMessage"');
    const steered = [...LINES.slice(0, prompt), LINES[prompt - 1], ...LINES.slice(prompt)].join("\n");
    const users = entriesIn(steered).filter(({ role }) => role === "user");
    expect(users.slice(0, 3).map(({ edge }) => edge)).toEqual(["start", undefined, "start"]);
  });
});
