import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemTranscriptFiles } from "../../src/adapters/transcript-files/system-transcript-files.ts";
import { transcriptPaths } from "../../src/domain/transcript/names.ts";
import { tempDir } from "../support/temp-dir.ts";
import { aMessage, storeOn, turns } from "../support/transcripts.ts";
import { tell } from "./every-boundary.ts";

const MESSAGES = 100_000;
const MESSAGE_BYTES = 2050;
const MIB = 1024 * 1024;

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

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

test("100,000 messages in 200 MB are opened for append within 50 ms, and verified without holding them", async () => {
  const ref = { folder: join(tempDir("ao-transcripts"), "shop"), name: "shop-1" };
  const files = systemTranscriptFiles();
  const store = storeOn(files);
  const text = "x".repeat(MESSAGE_BYTES - 100);
  let base = null;
  for (let said = 0; said < MESSAGES; said += 2000) {
    const messages = Array.from({ length: 2000 }, (_, at) => aMessage({ text: `${said + at} ${text}` }));
    const result = await store.saveSnapshot(ref, { base, messages });
    if (result.kind !== "saved") throw new Error(result.kind);
    base = result.head;
  }
  const bytes = statSync(transcriptPaths(ref).log).size;
  expect(bytes).toBeGreaterThan(200_000_000);

  let openMs = Number.POSITIVE_INFINITY;
  for (let times = 0; times < 5; times++) openMs = Math.min(openMs, await timed(() => store.summary(ref)));
  let saved: unknown;
  const known = base;
  const saveMs = await timed(async () => {
    saved = await store.saveSnapshot(ref, { base: known, messages: turns("last") });
  });
  expect(saved).toMatchObject({ kind: "saved", head: { count: MESSAGES + 2 } });
  const memoryBytes = await highestMemory(async () => {
    expect(await store.verify(ref)).toMatchObject({ health: "healthy", head: { count: MESSAGES + 2 } });
  });
  const mib = (of: number) => `${Math.round(of / MIB)} MiB`;
  tell(
    `${mib(bytes)}: opened in ${openMs.toFixed(1)} ms, saved in ${saveMs.toFixed(1)} ms, verified in ${mib(memoryBytes)}`,
  );
  expect(openMs).toBeLessThan(50);
  expect(memoryBytes).toBeLessThan(150 * MIB);
  expect(await store.load(ref)).toMatchObject({ kind: "refused", refusal: { reason: "over_budget" } });
});
