import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemTranscriptFiles } from "../../src/adapters/transcript-files/system-transcript-files.ts";
import { type TranscriptRef, transcriptPaths } from "../../src/domain/transcript/names.ts";
import { openForSave } from "../../src/lifecycle/transcript/open-for-save.ts";
import type { TranscriptFiles } from "../../src/ports/transcript-files.ts";
import { tempDir } from "../support/temp-dir.ts";
import { aMessage, sha256, storeOn, turns } from "../support/transcripts.ts";
import { tell } from "./every-boundary.ts";

const MESSAGE_BYTES = 2050;
const MIB = 1024 * 1024;
const mib = (of: number) => `${(of / MIB).toFixed(1)} MiB`;

/** Memory beyond what was in use before, at its highest while `work` runs, in bytes. */
async function highestMemory(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage().rss;
  let highest = before;
  const timer = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage().rss);
  }, 20);
  await work().finally(() => clearInterval(timer));
  return Math.max(highest, process.memoryUsage().rss) - before;
}

/** The best of five, in milliseconds. */
async function fastest(work: () => Promise<unknown>): Promise<number> {
  let bestMs = Number.POSITIVE_INFINITY;
  for (let times = 0; times < 5; times++) {
    const startMs = performance.now();
    await work();
    bestMs = Math.min(bestMs, performance.now() - startMs);
  }
  return bestMs;
}

/** The same files, and how many bytes were read from them. */
function countingReads(files: TranscriptFiles) {
  let readBytes = 0;
  const open: TranscriptFiles["open"] = async (path) => {
    const file = await files.open(path);
    if (file === undefined) return undefined;
    const read: typeof file.read = async (from, to) => {
      const bytes = await file.read(from, to);
      readBytes += bytes.length;
      return bytes;
    };
    return { ...file, read };
  };
  return { files: { ...files, open }, readBytes: () => readBytes };
}

async function filled(ref: TranscriptRef, count: number) {
  const store = storeOn(systemTranscriptFiles());
  const text = "x".repeat(MESSAGE_BYTES - 100);
  let base = null;
  for (let said = 0; said < count; said += 2000) {
    const messages = Array.from({ length: 2000 }, (_, at) => aMessage({ text: `${said + at} ${text}` }));
    const result = await store.saveSnapshot(ref, { base, messages });
    if (result.kind !== "saved") throw new Error(result.kind);
    base = result.head;
  }
  return base;
}

/** What it costs to open a transcript for an append, and to append to it. */
async function costOfAppend(count: number) {
  const ref = { folder: join(tempDir("ao-transcripts"), "shop"), name: "shop-1" };
  const base = await filled(ref, count);
  const context = { clock: { nowMs: Date.now }, sha256, writer: "writer-a" };
  const opening = countingReads(systemTranscriptFiles());
  const open = () => openForSave({ ...context, files: opening.files }, transcriptPaths(ref));
  expect(await open()).toMatchObject({ kind: "open", log: { isVouched: true, head: { count } } });
  const openBytes = opening.readBytes();
  const openMs = await fastest(open);
  const saving = countingReads(systemTranscriptFiles());
  const startMs = performance.now();
  const memoryBytes = await highestMemory(async () => {
    const saved = await storeOn(saving.files).saveSnapshot(ref, { base, messages: turns("last") });
    expect(saved).toMatchObject({ kind: "saved", warnings: [], head: { count: count + 2 } });
  });
  const saveMs = performance.now() - startMs;
  tell(
    `${count} messages: opened in ${openMs.toFixed(1)} ms (${mib(openBytes)} read), saved in ` +
      `${saveMs.toFixed(1)} ms (${mib(saving.readBytes())} read) with ${mib(memoryBytes)} more memory`,
  );
  return { ref, openBytes, openMs, saveBytes: saving.readBytes(), memoryBytes };
}

test("100,000 messages in 200 MB are opened for append within 50 ms, in no more memory than 10,000, and verified without holding them", async () => {
  const few = await costOfAppend(10_000);
  const many = await costOfAppend(100_000);
  const { ref } = many;
  expect(statSync(transcriptPaths(ref).log).size).toBeGreaterThan(200_000_000);
  expect(many.openMs).toBeLessThan(50);
  // The last record and the files beside the log, whose numbers have a digit more.
  expect(many.openBytes).toBeLessThan(few.openBytes + 4096);
  expect(many.saveBytes).toBeLessThan(few.saveBytes + 4096);
  expect(few.memoryBytes).toBeLessThan(32 * MIB);
  expect(many.memoryBytes).toBeLessThan(32 * MIB);

  const store = storeOn(systemTranscriptFiles());
  const memoryBytes = await highestMemory(async () => {
    expect(await store.verify(ref)).toMatchObject({ health: "healthy", head: { count: 100_002 } });
  });
  tell(`verified in ${mib(memoryBytes)}`);
  expect(memoryBytes).toBeLessThan(150 * MIB);
  expect(await store.load(ref)).toMatchObject({ kind: "refused", refusal: { reason: "over_budget" } });
});
