import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../../../src/domain/canonical-json.ts";
import { EMPTY_HEAD, type TranscriptHead, transcriptChain } from "../../../../src/domain/transcript/chain.ts";
import { digestsAfter, EMPTY_DIGEST } from "../../../../src/domain/transcript/digest.ts";
import { parseRecordLine, type TranscriptRecord } from "../../../../src/domain/transcript/record.ts";
import { recordBuilder } from "../../../../src/domain/transcript/record-builder.ts";
import { aMessage, sha256 } from "../../../support/transcripts.ts";

/** One save: how many of the messages before are kept, and how many come. */
interface Save {
  readonly keep: number | "all";
  readonly add: number;
}

interface Saved {
  readonly record: TranscriptRecord;
  readonly digests: readonly string[];
  /** The transcript after it. */
  readonly texts: readonly string[];
}

const asMessages = (texts: readonly string[]) => texts.map((text) => canonicalJson(aMessage({ text })));
const digestOf = (texts: readonly string[]) =>
  digestsAfter(sha256, EMPTY_DIGEST, asMessages(texts)).at(-1) ?? EMPTY_DIGEST;

/** One record that keeps some texts of a transcript and adds others, and the transcript after it. */
function recordOf(head: TranscriptHead, kept: readonly string[], added: readonly string[]) {
  const type = kept.length === head.count && head.revision > 0 ? "append" : "replace";
  const base = { ...head, count: kept.length, digest: digestOf(kept) };
  const stamp = { writer: "w", reason: "save", atMs: 1, owner: "shop/shop-1" };
  const builder = recordBuilder(sha256, { base, type, revision: head.revision + 1, stamp });
  for (const text of asMessages(added)) builder.add(text);
  const parsed = parseRecordLine(sha256, builder.finish() ?? "");
  if (parsed.kind !== "record") throw new Error(parsed.kind);
  return { head: builder.head(), record: parsed.record, digests: parsed.digests };
}

/** The records of some saves, each with what the transcript is after it. */
function history(saves: readonly Save[]): readonly Saved[] {
  let head: TranscriptHead = EMPTY_HEAD;
  let texts: readonly string[] = [];
  let said = 0;
  return saves.map(({ keep, add }) => {
    const kept = texts.slice(0, keep === "all" ? texts.length : keep);
    const added = Array.from({ length: add }, () => `message ${++said}`);
    const { head: next, ...saved } = recordOf(head, kept, added);
    head = next;
    texts = [...kept, ...added];
    return { ...saved, texts };
  });
}

function replay(saved: readonly Saved[]) {
  const chain = transcriptChain<readonly string[]>();
  const taken = saved.map(({ record, digests }) =>
    chain.offer(
      record,
      digests,
      record.messages.map(({ text }) => text),
    ),
  );
  const texts = chain.spans().flatMap(({ place, count }) => place.slice(0, count));
  return { chain, taken, texts };
}

const aSave: fc.Arbitrary<Save> = fc.record({
  keep: fc.oneof({ weight: 3, arbitrary: fc.constant("all" as const) }, fc.nat(6)),
  add: fc.integer({ min: 1, max: 3 }),
});
const someSaves = fc.array(aSave, { minLength: 1, maxLength: 10 });

describe("a chain of records", () => {
  test("gives the transcript of the last one, and every digest on the way", () => {
    fc.assert(
      fc.property(someSaves, (saves) => {
        const saved = history(saves);
        const { chain, taken, texts } = replay(saved);
        expect(taken).toEqual(saved.map(() => true));
        expect(texts).toEqual(saved.at(-1)?.texts);
        expect(chain.gaps()).toEqual([]);
        const digests = digestsAfter(sha256, EMPTY_DIGEST, asMessages(texts));
        expect(texts.map((_, at) => chain.digestAt(at))).toEqual(digests.slice(0, -1));
        expect(chain.head()).toMatchObject({ count: texts.length, digest: digests.at(-1) });
        expect(chain.digestAt(texts.length + 1)).toBeUndefined();
      }),
    );
  });

  test("with records missing shows nothing that was not in the last transcript, and says where something is missing", () => {
    fc.assert(
      fc.property(someSaves, fc.array(fc.nat(9), { maxLength: 3 }), (saves, lost) => {
        const saved = history(saves);
        const left = saved.filter((_, at) => !lost.includes(at));
        const last = left.at(-1)?.texts ?? [];
        const { chain, texts } = replay(left);
        const missing = new Set(chain.gaps().flatMap(({ first, count }) => last.slice(first, first + count)));
        expect(texts).toEqual(last.filter((text) => !missing.has(text)));
        expect(chain.head().count).toBe(last.length);
      }),
      { numRuns: 500 },
    );
  });

  test("refuses a record that comes again, late, or from another history", () => {
    const saved = history([
      { keep: "all", add: 2 },
      { keep: "all", add: 1 },
      { keep: "all", add: 1 },
    ]);
    const [one, two, three] = saved;
    const [, other] = history([
      { keep: "all", add: 3 },
      { keep: "all", add: 1 },
    ]);
    if (!one || !two || !three || !other) throw new Error("no records");
    expect(replay([one, two, two, three]).taken).toEqual([true, true, false, true]);
    expect(replay([one, two, three, one]).taken).toEqual([true, true, true, false]);
    expect(replay([one, other, two]).taken).toEqual([true, false, true]);
  });
});
