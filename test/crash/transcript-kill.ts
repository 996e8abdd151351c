import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { expect } from "vitest";
import { fileLocks } from "../../src/adapters/locks/file-locks.ts";
import { systemProcessTable } from "../../src/adapters/processes/system-process-table.ts";
import { systemTranscriptFiles } from "../../src/adapters/transcript-files/system-transcript-files.ts";
import type { TranscriptMessage } from "../../src/domain/transcript/message.ts";
import { transcriptPaths } from "../../src/domain/transcript/names.ts";
import { aProcess } from "../support/builders.ts";
import { tempDir } from "../support/temp-dir.ts";
import { commonCount, liveSession, loadAll, resumed, storeOn, turns } from "../support/transcripts.ts";

/** A change that a process of its own makes, on a disk of this machine. */
export interface KillScenario {
  readonly name: "first" | "append" | "rewrite" | "compact" | "repair";
  readonly before: readonly TranscriptMessage[];
  readonly after: readonly TranscriptMessage[];
  /** What stands at the end of the log before. */
  readonly torn?: string;
  /** The boundary behind which the change is there for good. */
  readonly lasting: string;
  readonly mayBePart: boolean;
}

const BASE = turns(1, 2);
const OTHER = [...turns(1), ...turns("other")];
const LOG = "shop-1.events.jsonl";
const TORN = '{"schemaVersion":1,"type":"append","messages":[{"ro';

export const KILL_SCENARIOS: readonly KillScenario[] = [
  { name: "first", before: [], after: turns("new"), lasting: `${LOG} write:after`, mayBePart: true },
  {
    name: "append",
    before: BASE,
    after: [...BASE, ...turns("new")],
    torn: TORN,
    lasting: `${LOG} write:after`,
    mayBePart: true,
  },
  { name: "rewrite", before: BASE, after: OTHER, lasting: `${LOG} write:after`, mayBePart: false },
  { name: "compact", before: BASE, after: OTHER, lasting: `${LOG} rename:after`, mayBePart: false },
  {
    name: "repair",
    before: BASE,
    after: BASE,
    torn: TORN,
    lasting: `${LOG} truncate:after`,
    mayBePart: false,
  },
];

/** A folder of transcripts, and a store on it. */
function place(root: string) {
  const ref = { folder: join(root, "transcripts", "shop"), name: "shop-1" };
  const self = { process: aProcess(), command: "ao test" };
  const locks = fileLocks({ dir: join(root, "locks"), self, processes: systemProcessTable() });
  return { ref, paths: transcriptPaths(ref), store: storeOn(systemTranscriptFiles(), { locks }) };
}

/** The child as a program that Node 20 runs. */
export async function childProgram(): Promise<string> {
  const folder = tempDir("ao-transcript-child");
  const outfile = join(folder, "child.mjs");
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  await build({
    entryPoints: [join(import.meta.dirname, "transcript-child.ts")],
    ...{ outfile, bundle: true, platform: "node", format: "esm", logLevel: "silent" },
    external: ["better-sqlite3", "execa", "vitest"],
  });
  return outfile;
}

/** Runs the child; its boundaries, and whether it was killed. */
function runChild(program: string, root: string, name: string, at: number) {
  const child = spawnSync(process.execPath, [program, root, name, String(at)], {
    encoding: "utf8",
    timeout: 60_000,
  });
  expect(child.stderr).toBe("");
  const crossed = child.stdout.trimEnd().split("\n");
  return { crossed, wasKilled: child.signal === "SIGKILL" };
}

/** What was there before, once for all boundaries. */
async function arrange({ before, torn }: KillScenario): Promise<string> {
  const root = tempDir("ao-transcripts");
  const { store, ref, paths } = place(root);
  const session = liveSession(store, undefined, ref);
  session.add(...before);
  await session.save();
  if (torn !== undefined) appendFileSync(paths.log, torn);
  return root;
}

async function expectRecovered(root: string, scenario: KillScenario, lasts: boolean): Promise<void> {
  const { before, after, mayBePart } = scenario;
  const { store, ref, paths } = place(root);
  const found = await loadAll(store, ref);
  expect(await loadAll(store, ref)).toEqual(found);
  if (lasts) expect(found).toEqual(after);
  else if (mayBePart) {
    expect([commonCount(before, found), commonCount(found, after)]).toEqual([before.length, found.length]);
  } else expect([before, after]).toContainEqual(found);
  const session = await resumed(store, ref);
  session.add(...turns("next"));
  // The lock of the process that was killed holds nobody up.
  expect(await session.save()).toMatchObject({ kind: "saved", warnings: [] });
  expect(await loadAll(store, ref)).toEqual([...found, ...turns("next")]);
  expect(await store.copies(ref)).toEqual([]);
  expect(await store.verify(ref)).toMatchObject({ health: "healthy" });
  if (scenario.torn !== undefined) expect(readFileSync(paths.salvage, "utf8")).toContain(scenario.torn);
}

/** Kills the child at its boundaries, each time on the same disk as before. @returns how often it was killed. */
export async function killEach(
  scenario: KillScenario,
  program: string,
  { first = 1, step = 1 } = {},
): Promise<number> {
  const origin = await arrange(scenario);
  let kills = 0;
  for (let at = first; ; at += step) {
    const root = join(tempDir("ao-transcripts"), "copy");
    cpSync(origin, root, { recursive: true });
    const { crossed, wasKilled } = runChild(program, root, scenario.name, at);
    const lasts = !wasKilled || crossed.includes(scenario.lasting);
    await expectRecovered(root, scenario, lasts).catch((error: unknown) => {
      throw new Error(`${scenario.name}, killed at ${at}, ${crossed.at(-1)}`, { cause: error });
    });
    if (!wasKilled) return kills;
    kills += 1;
  }
}
