import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createConversation,
  forkConversation,
  resumeConversation,
} from "../../../../../src/adapters/agents/embedded/program/conversation.ts";
import { readMemory } from "../../../../../src/adapters/agents/embedded/program/conversation-record.ts";
import { tempDir } from "../../../../support/temp-dir.ts";

const ONE = "5f0c1f6e-0d5b-4b8e-9c8e-2f4f7a8b9c0d";
const TWO = "6f0c1f6e-0d5b-4b8e-9c8e-2f4f7a8b9c0d";

function aConversation() {
  const place = { dir: join(tempDir(), "conversations"), id: ONE };
  const file = join(place.dir, `${ONE}.jsonl`);
  return { place, file, conversation: createConversation(place), prompts: () => resumed(place) };
}

const resumed = (place: { dir: string; id: string }) => resumeConversation(place).memory().prompts;

describe("a conversation", () => {
  test("is there from its start, readable by its user alone", () => {
    const { file, prompts } = aConversation();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(prompts()).toEqual([]);
  });

  test("remembers its prompts and each edited path once", () => {
    const { place, conversation } = aConversation();
    conversation.append({ kind: "prompt", text: "one\n\u2028two" });
    for (const path of ["a", "b", "a"]) conversation.append({ kind: "edit", path });
    conversation.append({ kind: "turn_end", outcome: "completed", error: null });
    const memory = { prompts: ["one\n\u2028two"], edits: ["a", "b"], turnOpen: false };
    expect(conversation.memory()).toEqual(memory);
    expect(resumeConversation(place).memory()).toEqual(memory);
  });

  test("knows that its last turn was cut off", () => {
    const { place, conversation } = aConversation();
    conversation.append({ kind: "prompt", text: "one" });
    expect(resumeConversation(place).memory().turnOpen).toBe(true);
  });

  test("cannot begin twice", () => {
    const { place } = aConversation();
    expect(() => createConversation(place)).toThrow(`conversation ${ONE} is already in use`);
  });

  test("cannot be resumed when there is none", () => {
    const { place } = aConversation();
    expect(() => resumeConversation({ ...place, id: TWO })).toThrow(`no conversation with id ${TWO}`);
  });

  test.each([
    ["torn", '{"kind":"prompt","te'],
    ["whole but unfinished", '{"kind":"reply","text":"x"}'],
    ["no record", "null\n[]\n42\n"],
  ])("takes a last line that is %s and goes on behind it", (_name, tail) => {
    const { place, file, conversation, prompts } = aConversation();
    conversation.append({ kind: "prompt", text: "before" });
    appendFileSync(file, tail);
    resumeConversation(place).append({ kind: "prompt", text: "after" });
    expect(prompts()).toEqual(["before", "after"]);
  });

  test("has each record on the disk as a line of its own", () => {
    const { file, conversation } = aConversation();
    conversation.append({ kind: "reply", text: "a\nb" });
    expect(readFileSync(file, "utf8").trimEnd().split("\n")).toHaveLength(2);
  });

  test("is read from any text without an error", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.json(), fc.string({ unit: "binary" }))), (lines) => {
        expect(readMemory(lines.join("\n"))).toMatchObject({ prompts: expect.any(Array) });
      }),
    );
  });
});

describe("a fork", () => {
  test("remembers all of its parent, whose file it leaves byte for byte", () => {
    const { place, file, conversation } = aConversation();
    conversation.append({ kind: "prompt", text: "one" });
    appendFileSync(file, '{"torn');
    const before = readFileSync(file);
    const fork = forkConversation(place, TWO);
    fork.append({ kind: "prompt", text: "two" });
    expect(resumed({ ...place, id: TWO })).toEqual(["one", "two"]);
    expect(readFileSync(file)).toEqual(before);
  });

  test("names its parent in a head of its own", () => {
    const { place } = aConversation();
    forkConversation(place, TWO);
    const heads = readFileSync(join(place.dir, `${TWO}.jsonl`), "utf8")
      .trimEnd()
      .split("\n");
    expect(heads.map((line) => JSON.parse(line))).toMatchObject([{ id: TWO, parentId: ONE }]);
  });

  test("onto a taken id is refused and leaves that one as it is", () => {
    const { place } = aConversation();
    writeFileSync(join(place.dir, `${TWO}.jsonl`), "taken");
    expect(() => forkConversation(place, TWO)).toThrow(`conversation ${TWO} is already in use`);
    expect(readFileSync(join(place.dir, `${TWO}.jsonl`), "utf8")).toBe("taken");
    expect(readdirSync(place.dir).sort()).toEqual([`${ONE}.jsonl`, `${TWO}.jsonl`]);
  });

  test("of an unknown conversation leaves nothing", () => {
    const { place } = aConversation();
    expect(() => forkConversation({ ...place, id: TWO }, ONE)).toThrow(`no conversation with id ${TWO}`);
    expect(readdirSync(place.dir)).toEqual([`${ONE}.jsonl`]);
  });
});
