import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, type JsonValue } from "../../../../src/domain/canonical-json.ts";
import { EMPTY_HEAD } from "../../../../src/domain/transcript/chain.ts";
import { digestsAfter, EMPTY_DIGEST } from "../../../../src/domain/transcript/digest.ts";
import { parseMessage, type TranscriptMessage } from "../../../../src/domain/transcript/message.ts";
import { encodeRecord, mayBeTornLog, parseRecordLine } from "../../../../src/domain/transcript/record.ts";
import { recordBuilder } from "../../../../src/domain/transcript/record-builder.ts";
import { aMessage, sha256 } from "../../../support/transcripts.ts";
import { anyText } from "../arbitraries.ts";

const aJson = fc.jsonValue({ depthSize: "small" }) as fc.Arbitrary<JsonValue>;

const anyMessage: fc.Arbitrary<TranscriptMessage> = fc
  .record({
    text: anyText,
    role: fc.constantFrom("user", "assistant", "tool", "system"),
    turnId: fc.option(anyText),
    source: fc.constantFrom("hook", "agent_log", "ao"),
    atMs: fc.option(fc.integer({ min: 0, max: 2e12 })),
    details: aJson,
  })
  .map((message) => message as TranscriptMessage);

const STAMP = { writer: "w", reason: "save", atMs: 1, owner: "shop/shop-1" };

/** The lines of one save of these messages, the first of a transcript. */
function linesOf(texts: readonly string[]): readonly string[] {
  const plan = { base: EMPTY_HEAD, type: "replace", revision: 1, stamp: STAMP } as const;
  const builder = recordBuilder(sha256, plan);
  return [...texts.map((text) => builder.add(text)), builder.finish()].flatMap((line) => line ?? []);
}

describe("a record", () => {
  test("is one line, begins with schema and type, and is read back as it was", () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 4 }), (messages) => {
        const texts = messages.map(canonicalJson);
        const [line = ""] = linesOf(texts);
        expect(line).not.toMatch(/[\n\r]/);
        expect(line).toMatch(/^\{"schemaVersion":1,"type":"replace"/);
        const parsed = parseRecordLine(sha256, line);
        if (parsed.kind !== "record") throw new Error(parsed.kind);
        expect(parsed.record).toMatchObject({
          ...STAMP,
          revision: 1,
          baseRevision: 0,
          messageIndex: 0,
          rewrites: 1,
        });
        expect(parsed.record.messages.map(canonicalJson)).toEqual(texts);
        expect(parsed.digests).toEqual(digestsAfter(sha256, EMPTY_DIGEST, texts));
      }),
    );
  });

  test("with any one character changed, put in or left out is none, or of a newer ao", () => {
    const [line = ""] = linesOf([canonicalJson(aMessage({ text: "hello" }))]);
    const other = fc.constantFrom(...'0123456789abcdefx"{}[],:\0é ');
    fc.assert(
      fc.property(fc.nat(line.length - 1), other, fc.nat(2), (at, character, cut) => {
        const changed = line.slice(0, at) + character + line.slice(at + cut);
        fc.pre(changed !== line);
        expect(parseRecordLine(sha256, changed).kind).not.toBe("record");
      }),
      { numRuns: 2000 },
    );
  });

  test("whose checksum is right but whose digest does not follow from its messages is none", () => {
    const head = {
      type: "append",
      revision: 2,
      baseRevision: 1,
      messageIndex: 0,
      rewrites: 1,
      ...STAMP,
    } as const;
    const digests = { baseDigest: EMPTY_DIGEST, digest: "1".repeat(64) };
    const line = encodeRecord(sha256, { ...head, ...digests }, [canonicalJson(aMessage({ text: "a" }))]);
    expect(parseRecordLine(sha256, line)).toEqual({ kind: "unreadable" });
  });

  test.each([
    ["a newer schema", '{"schemaVersion":2}', "newer"],
    ["an unknown type", '{"schemaVersion":1,"type":"redact"}', "newer"],
    ["no schema", '{"type":"append"}', "unreadable"],
    ["an older schema", '{"schemaVersion":0,"type":"append"}', "unreadable"],
    ["a list", "[]", "unreadable"],
    ["half of one", '{"schemaVersion":1,"ty', "unreadable"],
    ["nothing", "", "unreadable"],
  ])("%s is %j", (_what, line, kind) => {
    expect(parseRecordLine(sha256, line).kind).toBe(kind);
  });

  test.each([
    ["", true],
    ["{", true],
    ['{"schemaVersion":1,"type":"rep', true],
    ["\0\0\0", true],
    ['\0\0nt":1}', true],
    ["\n", true],
    ['{"role":"user"}', false],
    ["hello", false],
    ["[", false],
  ])("a file that begins with %j may be a torn log: %j", (start, mayBe) => {
    expect(mayBeTornLog(start)).toBe(mayBe);
  });
});

describe("a message", () => {
  const message = { ...aMessage({ text: "hi" }), details: { tool: "edit" } };

  test("is kept with all its members", () => {
    expect(parseMessage(message)).toEqual(message);
  });

  test.each([
    ["role", "critic"],
    ["source", "rumour"],
    ["text", null],
    ["turnId", 7],
    ["atMs", -1],
    ["atMs", "now"],
  ])("whose %s is %j is none", (member, value) => {
    expect(parseMessage({ ...message, [member]: value })).toBeUndefined();
  });

  test.each(["role", "source", "text", "turnId", "atMs"])("without %s is none", (member) => {
    const { [member]: _left, ...rest } = message as Record<string, JsonValue>;
    expect(parseMessage(rest)).toBeUndefined();
  });
});
