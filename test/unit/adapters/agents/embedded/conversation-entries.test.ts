import { readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  entriesInFile,
  entriesInHook,
  readEntries,
} from "../../../../../src/adapters/agents/embedded/conversation-entries.ts";
import {
  createConversation,
  forkConversation,
  resumeConversation,
} from "../../../../../src/adapters/agents/embedded/program/conversation.ts";
import { tempDir } from "../../../../support/temp-dir.ts";

const ONE = "5f0c1f6e-0d5b-4b8e-9c8e-2f4f7a8b9c0d";
const TWO = "6f0c1f6e-0d5b-4b8e-9c8e-2f4f7a8b9c0d";

/** A conversation with one of everything, and what the hooks say of it. */
function aTalk() {
  const place = { dir: join(tempDir(), "conversations"), id: ONE };
  const conversation = createConversation(place);
  const { append } = conversation;
  const hooks = [
    ["submit", { prompt: "ask", place: append({ kind: "prompt", text: "ask" }) }],
    ["reply", { text: "why?", question: true, place: append({ kind: "question", text: "why?" }) }],
    ["submit", { prompt: "so", answers: true, place: append({ kind: "answer", text: "so" }) }],
    ["tool", { name: "write", path: "a", place: append({ kind: "edit", path: "a", tool: "write" }) }],
    ["reply", { text: "wrote a", place: append({ kind: "reply", text: "wrote a" }) }],
    [
      "turn_end",
      {
        ...{ outcome: "failed", error: "no" },
        place: append({ kind: "turn_end", outcome: "failed", error: "no" }),
      },
    ],
  ] as const;
  const file = join(place.dir, `${ONE}.jsonl`);
  return { place, file, conversation, told: hooks.flatMap(([event, body]) => entriesInHook(event, body)) };
}

const content = (file: string) => readFileSync(file, "utf8");

describe("what the embedded agent says", () => {
  test("is the same in its hooks and in its own file, each thing with its place", async () => {
    const { place, told } = aTalk();
    expect(await readEntries(place.dir, ONE)).toEqual(told);
    expect(told.map(({ role, text, edge }) => [role, text, edge])).toEqual([
      ["user", "ask", "start"],
      ["assistant", "why?", undefined],
      ["user", "so", undefined],
      ["tool", "write a", undefined],
      ["assistant", "wrote a", undefined],
      ["system", "failed: no", "end"],
    ]);
    expect(told.map(({ after }) => after)).toEqual([
      null,
      ...told.slice(0, -1).map(({ position }) => position),
    ]);
  });

  test("never gets a place again that it had before its file was cut", () => {
    const { place, file, told } = aTalk();
    const last = told.at(-1)?.position ?? 0;
    const [, second] = told;
    truncateSync(file, content(file).indexOf('{"kind":"answer"'));
    const later = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 1);
    onTestFinished(() => later.mockRestore());
    const next = resumeConversation(place).append({ kind: "prompt", text: "on" });
    expect(next.position).toBeGreaterThan(last);
    expect(next.after).toBe(second?.position);
  });

  test("is its own in a fork, and not what the fork took over", () => {
    const { place, told } = aTalk();
    const fork = forkConversation(place, TWO);
    const { position } = fork.append({ kind: "prompt", text: "mine" });
    expect(entriesInFile(content(join(place.dir, `${TWO}.jsonl`)))).toMatchObject([
      { text: "mine", position, after: null },
    ]);
    expect(position).toBeGreaterThan(told.at(-1)?.position ?? 0);
  });

  test.each([
    ["no place", "reply", { text: "x" }],
    ["a place that is none", "reply", { text: "x", place: { position: -1 } }],
    ["no text", "reply", { place: { position: 1, after: null, atMs: 1 } }],
    ["no word of the conversation", "waiting", { question: "x", place: { position: 1 } }],
  ])("is nothing in a hook with %s", (_what, event, body) => {
    expect(entriesInHook(event, body)).toEqual([]);
  });

  test("cannot be read from a file that is not there", async () => {
    const { place } = aTalk();
    expect(await readEntries(place.dir, TWO)).toBeNull();
    expect(await readEntries(place.dir, "../x")).toBeNull();
  });
});
