import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { entriesIn } from "../../../../../src/adapters/agents/claude-code/conversation-entries.ts";
import { readOwnEvents } from "../../../../../src/adapters/agents/claude-code/own-events.ts";
import { readLog } from "../../../../../src/adapters/agents/claude-code/read-log.ts";
import { parseLaunchId, parseSessionId } from "../../../../../src/domain/ids.ts";
import { turnsOfPrompts } from "../../../../../src/domain/transcript/turns-of-prompts.ts";
import { tempDir } from "../../../../support/temp-dir.ts";
import { CONVERSATION, payloads, recorded, WORKSPACE } from "./recorded.ts";

interface Own {
  readonly status?: string;
  /** The log up to this line; all of it when not given. */
  readonly lines?: number;
  readonly isPrompted?: boolean;
  readonly nowMs?: number;
}

interface Status {
  readonly pid: number;
  readonly statusUpdatedAt: number;
}

/** What claude's own files tell, as they were recorded. */
async function told({ status = "status-interrupted.json", lines, isPrompted = false, nowMs }: Own) {
  const folder = tempDir();
  const launchDir = join(folder, "launch");
  const project = join(folder, "projects", "-home-dev-shop");
  for (const path of [launchDir, project, join(folder, "sessions")]) mkdirSync(path, { recursive: true });
  const text = recorded(status);
  const { pid, statusUpdatedAt } = JSON.parse(text) as Status;
  writeFileSync(join(folder, "sessions", `${pid}.json`), text);
  const log = recorded("log.jsonl").split("\n").slice(0, lines).join("\n");
  writeFileSync(join(project, `${CONVERSATION}.jsonl`), log);
  if (isPrompted) writeFileSync(join(launchDir, "prompt"), "x");
  const [sessionId, launchId] = [parseSessionId("app-1"), parseLaunchId("l-1")];
  if (sessionId === undefined || launchId === undefined) throw new Error("bad ids");
  const events = await readOwnEvents(folder, {
    ...{ sessionId, launchId, pid, launchDir, agentSessionId: CONVERSATION, workspacePath: WORKSPACE },
    ...{ dataDir: folder, home: null, nowMs: nowMs ?? statusUpdatedAt },
  });
  return events.map(({ event, atMs }) => ({ event, afterMs: atMs - statusUpdatedAt }));
}

const lineWith = (text: string) =>
  recorded("log.jsonl")
    .split("\n")
    .findIndex((line) => line.includes(text)) + 1;

describe("what claude's own files tell of a launch", () => {
  test("a permission prompt and work by its status alone", async () => {
    expect(await told({ status: "status-permission.json" })).toEqual([{ event: "ao:waiting", afterMs: 0 }]);
    expect(await told({ status: "status-busy.json" })).toEqual([{ event: "ao:busy", afterMs: 0 }]);
  });

  test("an interrupt at once, by its record in the log, which no hook tells", async () => {
    const lines = lineWith("[Request interrupted by user]");
    const events = await told({ lines });
    expect(events).toMatchObject([{ event: "ao:interrupted" }]);
    expect(Math.abs(events[0]?.afterMs ?? Number.NaN)).toBeLessThan(1_000);
  });

  test("a prompt that was stopped before the first word, once no hook can come any more", async () => {
    const { statusUpdatedAt } = JSON.parse(recorded("status-unsaid.json")) as Status;
    const unsaid = { status: "status-unsaid.json", lines: lineWith('"hangs"') };
    expect(await told({ ...unsaid, nowMs: statusUpdatedAt + 400 })).toEqual([]);
    expect(await told({ ...unsaid, nowMs: statusUpdatedAt + 600 })).toMatchObject([
      { event: "ao:interrupted" },
    ]);
  });

  test("nothing after an answer, as its hook tells that, and its end when the hook is lost", async () => {
    const { statusUpdatedAt } = JSON.parse(recorded("status-interrupted.json")) as Status;
    const answered = { lines: lineWith("made it") };
    expect(await told({ ...answered, nowMs: statusUpdatedAt + 4_000 })).toEqual([]);
    expect(await told({ ...answered, nowMs: statusUpdatedAt + 6_000 })).toMatchObject([
      { event: "ao:stopped" },
    ]);
  });

  test("that it takes a message once its screen is drawn, unless a prompt came with the launch", async () => {
    const { statusUpdatedAt } = JSON.parse(recorded("status-interrupted.json")) as Status;
    const nowMs = statusUpdatedAt + 1_100;
    expect(await told({ lines: 2, nowMs })).toMatchObject([{ event: "ao:ready" }]);
    expect(await told({ lines: 2, nowMs: statusUpdatedAt + 500 })).toEqual([]);
    expect(await told({ lines: 2, nowMs, isPrompted: true })).toEqual([]);
  });
});

describe("the log of a conversation", () => {
  test("is told as prompts, tools, answers and ends of turns, each once and in order", () => {
    const entries = entriesIn(recorded("log.jsonl"));
    expect(entries.map(({ role, text, edge = null }) => [role, text?.slice(0, 24), edge])).toEqual([
      ["user", "first prompt", "start"],
      ["tool", "Bash touch made", null],
      ["assistant", "made it", null],
      ["system", "completed", "end"],
      ["user", "talk", "start"],
      ["assistant", expect.stringContaining("word0 word1"), null],
      ["system", "interrupted", "end"],
      ["user", "deny", "start"],
      ["tool", "Bash touch denied", null],
      ["system", "interrupted", "end"],
      ["user", "hangs", "start"],
      ["user", "err", "start"],
      ["system", "failed: API Error: 400 s", "end"],
    ]);
    const positions = entries.map(({ position }) => position);
    expect(positions).toEqual(positions.toSorted((one, other) => one - other));
    expect(entries.map(({ after }) => after)).toEqual([null, ...positions.slice(0, -1)]);
  });

  test("has the prompts that its hooks told of, each for one turn, also when the hook of one was lost", () => {
    const prompts = entriesIn(recorded("log.jsonl")).filter(({ edge }) => edge === "start");
    const heard = payloads("UserPromptSubmit").map((body) => (JSON.parse(body) as { prompt: string }).prompt);
    expect(prompts.map(({ text }) => text)).toEqual(heard);
    // When a hook ran was not recorded: somewhat after the record of its prompt.
    const turns = prompts.map(({ text, atMs }) => ({ turnId: `${text}`, startedAtMs: (atMs ?? 0) + 300 }));
    for (const lost of turns) {
      const others = turns.filter((turn) => turn !== lost);
      const found = turnsOfPrompts(prompts, others, () => true);
      expect(prompts.map((prompt) => found.get(prompt) ?? null)).toEqual(
        heard.map((text) => (text === lost.turnId ? null : text)),
      );
    }
  });

  test("with a torn last line is told without it", () => {
    const whole = recorded("log.jsonl");
    expect(entriesIn(whole.slice(0, -40)).length).toBe(entriesIn(whole).length);
  });

  test("is a session's own only with its id and its workspace, which another may share a folder with", async () => {
    const folder = tempDir();
    const project = join(folder, "projects", "-home-dev-shop");
    mkdirSync(project, { recursive: true });
    writeFileSync(join(project, `${CONVERSATION}.jsonl`), recorded("log.jsonl"));
    const other = CONVERSATION.replace("7", "8");
    writeFileSync(join(project, `${other}.jsonl`), recorded("log.jsonl"));
    const isThere = async (id: string, path: string) => (await readLog(folder, id, path)) !== undefined;
    expect(await isThere(CONVERSATION, WORKSPACE)).toBe(true);
    expect(await isThere(CONVERSATION, "/home/dev.shop")).toBe(false);
    expect(await isThere(other, WORKSPACE)).toBe(false);
  });

  test("that never had a prompt is none", async () => {
    const folder = tempDir();
    const project = join(folder, "projects", "-home-dev-shop");
    mkdirSync(project, { recursive: true });
    const head = recorded("log.jsonl").split("\n").slice(0, 2).join("\n");
    writeFileSync(join(project, `${CONVERSATION}.jsonl`), head);
    expect(await readLog(folder, CONVERSATION, WORKSPACE)).toBeUndefined();
  });
});
