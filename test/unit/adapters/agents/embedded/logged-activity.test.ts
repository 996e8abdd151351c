import { appendFileSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { readLoggedActivity } from "../../../../../src/adapters/agents/embedded/logged-activity.ts";
import {
  createConversation,
  forkConversation,
} from "../../../../../src/adapters/agents/embedded/program/conversation.ts";
import type { ConversationRecord } from "../../../../../src/adapters/agents/embedded/program/conversation-record.ts";
import { tempDir } from "../../../../support/temp-dir.ts";

const ONE = "5f0c1f6e-0d5b-4b8e-9c8e-2f4f7a8b9c0d";
const TWO = "6f0c1f6e-0d5b-4b8e-9c8e-2f4f7a8b9c0d";
const T0_MS = 1_700_000_000_000;

/** A conversation that begins at `T0_MS`; each record is a second after the one before. */
function aConversation(...records: readonly ConversationRecord[]) {
  vi.useFakeTimers({ now: T0_MS, toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const dir = join(tempDir(), "conversations");
  const conversation = createConversation({ dir, id: ONE });
  for (const record of records) {
    vi.setSystemTime(Date.now() + 1000);
    conversation.append(record);
  }
  return { dir, file: join(dir, `${ONE}.jsonl`) };
}

const PROMPT = { kind: "prompt", text: "go" } as const;
const end = (outcome: "completed" | "failed" | "interrupted") =>
  ({ kind: "turn_end", outcome, error: null }) as const;

test.each<[string, ConversationRecord, string, string?]>([
  ["prompt", PROMPT, "active"],
  ["question", { kind: "question", text: "why?" }, "waiting_input"],
  ["answer", { kind: "answer", text: "so" }, "active"],
  ["reply", { kind: "reply", text: "yes" }, "active"],
  ["edit", { kind: "edit", path: "a" }, "active"],
  ["completed turn", end("completed"), "ready", "stopped"],
  ["failed turn", end("failed"), "blocked", "failed"],
  ["interrupted turn", end("interrupted"), "idle", "interrupted"],
])("a log that ends with a %s tells what the agent does, and since when", async (_, record, state, turn) => {
  const { dir } = aConversation(PROMPT, record);
  const logged = await readLoggedActivity(dir, ONE);
  expect(logged).toMatchObject({ state, atMs: T0_MS + 2000 });
  expect(logged?.turn?.kind).toBe(turn);
});

test.each([
  ["longer than what is read of its end", 3000, "x".repeat(100)],
  ["that ends with a record longer than that", 2, "x".repeat(100_000)],
])("a log %s tells by its last record", async (_, count, text) => {
  const { dir } = aConversation(...Array.from({ length: count }, () => ({ kind: "reply", text }) as const));
  expect(await readLoggedActivity(dir, ONE)).toEqual({ state: "active", atMs: T0_MS + count * 1000 });
});

test("a log that was not changed since is not read", async () => {
  const { dir, file } = aConversation(PROMPT);
  const { mtimeMs } = statSync(file);
  expect(await readLoggedActivity(dir, ONE, mtimeMs)).toBeUndefined();
  expect(await readLoggedActivity(dir, ONE, mtimeMs - 1)).toMatchObject({ state: "active" });
});

test("a conversation without a record has begun, and its agent is ready", async () => {
  const { dir } = aConversation();
  expect(await readLoggedActivity(dir, ONE)).toEqual({ state: "ready", atMs: T0_MS });
});

test("what a fork took over says nothing of its agent", async () => {
  const { dir } = aConversation(PROMPT);
  vi.setSystemTime(T0_MS + 9000);
  forkConversation({ dir, id: ONE }, TWO);
  expect(await readLoggedActivity(dir, TWO)).toEqual({ state: "ready", atMs: T0_MS + 9000 });
});

test.each(['{"kind":"turn_end","outc', "null", "no record", '{"kind":"turn_end","outcome":"completed"}'])(
  "a line %j, which has no place, is passed over",
  async (line) => {
    const { dir, file } = aConversation(PROMPT);
    appendFileSync(file, line);
    expect(await readLoggedActivity(dir, ONE)).toEqual({ state: "active", atMs: T0_MS + 1000 });
  },
);

test.each([{ kind: "new_kind" }, { kind: "turn_end", outcome: "other" }, { kind: "prompt", atMs: "soon" }])(
  "a last record %j, which is not understood, tells nothing",
  async (record) => {
    const { dir, file } = aConversation(PROMPT);
    const place = { position: Number.MAX_SAFE_INTEGER, atMs: T0_MS + 3000 };
    appendFileSync(file, `${JSON.stringify({ ...place, ...record })}\n`);
    expect(await readLoggedActivity(dir, ONE)).toBeUndefined();
  },
);

test("a log that is missing, is no file, or has no name of one tells nothing", async () => {
  const { dir } = aConversation();
  mkdirSync(join(dir, `${TWO}.jsonl`));
  expect(await readLoggedActivity(dir, TWO)).toBeUndefined();
  expect(await readLoggedActivity(join(dir, "none"), ONE)).toBeUndefined();
  expect(await readLoggedActivity(dir, "../x")).toBeUndefined();
});
