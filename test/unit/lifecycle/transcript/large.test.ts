import { expect, test } from "vitest";
import { memoryTranscriptFiles } from "../../../../src/adapters/memory/memory-transcript-files.ts";
import type { TranscriptFiles } from "../../../../src/ports/transcript-files.ts";
import { aMessage, liveSession, REF, storeOn, turns } from "../../../support/transcripts.ts";

/** Counts the bytes that are read. */
function counting(files: TranscriptFiles) {
  let bytes = 0;
  const counted: TranscriptFiles = {
    ...files,
    async open(path) {
      const file = await files.open(path);
      if (file === undefined) return undefined;
      return {
        ...file,
        async read(offset, maxBytes) {
          const read = await file.read(offset, maxBytes);
          bytes += read.length;
          return read;
        },
      };
    },
  };
  return { files: counted, read: () => bytes };
}

/** The bytes that one more save reads of a transcript of so many messages. */
async function readToAppend(messages: number): Promise<number> {
  const files = memoryTranscriptFiles();
  const session = liveSession(storeOn(files));
  session.add(...Array.from({ length: messages }, (_, at) => aMessage({ text: `${at} ${"x".repeat(500)}` })));
  await session.save();
  session.add(...turns("last"));
  await session.save();
  const counted = counting(files);
  const store = storeOn(counted.files);
  expect(await store.summary(REF)).toMatchObject({ head: { count: messages + 2 } });
  const moved = session.movedTo(store);
  moved.add(...turns("more"));
  expect(await moved.save()).toMatchObject({ kind: "saved" });
  return counted.read();
}

test("an append reads as little of a long transcript as of a short one", async () => {
  const short = await readToAppend(100);
  const long = await readToAppend(2000);
  expect(Math.abs(long - short)).toBeLessThan(100);
  expect(long).toBeLessThan(20_000);
});
