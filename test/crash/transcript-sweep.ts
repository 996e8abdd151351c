import { expect } from "vitest";
import { canonicalJson } from "../../src/domain/canonical-json.ts";
import { isAoError } from "../../src/domain/errors.ts";
import type { TranscriptMessage } from "../../src/domain/transcript/message.ts";
import type { TranscriptFiles } from "../../src/ports/transcript-files.ts";
import type { Disk } from "../support/faulty-disk.ts";
import { type Fault, type FaultMode, faultyProcess } from "../support/faulty-transcript-files.ts";
import {
  commonCount,
  loadAll,
  PATHS,
  REF,
  resumed,
  type StoreOptions,
  storeOn,
  turns,
} from "../support/transcripts.ts";
import type { SweepScenario } from "./transcript-scenarios.ts";

/** A store with a planted fault, to prove that the sweep finds it. */
export interface Plant {
  readonly files?: (files: TranscriptFiles) => TranscriptFiles;
  readonly store?: StoreOptions;
}

export interface SweepOptions extends Plant {
  readonly modes?: readonly FaultMode[];
  /** Every how many boundaries; 1 for all of them. */
  readonly step?: number;
  /** The first boundary, from 1. */
  readonly first?: number;
}

interface Given extends Plant {
  readonly scenario: SweepScenario;
  readonly disk: Disk;
  readonly before: readonly TranscriptMessage[];
}

const ALL_MODES: readonly FaultMode[] = ["kill", "power_loss", "ENOSPC", "EIO", "short_write"];
const READS = /\.(?:read|open|list):/;

function opened({ files = (one) => one, store = {} }: Plant, disk: Disk, fault?: Fault) {
  const process = faultyProcess(disk, fault);
  return { process, store: storeOn(files(process.files), store) };
}

/** What a machine that lost its power may have kept; several, for each is another disk. */
function faultsAt(at: number, mode: FaultMode): readonly Fault[] {
  if (mode !== "power_loss") return [{ at, mode, seed: at }];
  const reordered = [1, 2, 3].map((seed) => ({ at, mode, loss: "reorder" as const, seed: 7 * at + seed }));
  return [{ at, mode, loss: "drop" }, { at, mode, loss: "keep" }, ...reordered];
}

/** Whether a process has crossed these boundaries, in this order. */
function hasCrossed(crossed: readonly string[], wanted: readonly string[]): boolean {
  let at = -1;
  return wanted.every((name) => {
    at = crossed.indexOf(name, at + 1);
    return at !== -1;
  });
}

/** The boundaries of a change that nothing disturbs. Once it is acknowledged no loss of power takes it back. */
async function boundariesOf({ scenario, ...given }: Given): Promise<readonly string[]> {
  const disk = given.disk.clone();
  const { process, store } = opened(given, disk);
  await process.run(() => scenario.act(store));
  disk.losePower("drop", () => 0);
  const found = await loadTwice(given, disk);
  if (canonicalJson(found) !== canonicalJson(scenario.after))
    throw new Error(`${scenario.name}: not lasting`);
  return process.crossed;
}

function isPrefix(part: readonly TranscriptMessage[], whole: readonly TranscriptMessage[]): boolean {
  return commonCount(part, whole) === part.length;
}

/** Loads twice: the same both times, and not a byte of the disk is another after it. */
async function loadTwice(plant: Plant, disk: Disk): Promise<readonly TranscriptMessage[]> {
  const before = disk.contents();
  const { store } = opened(plant, disk);
  const first = await store.load(REF);
  expect(await store.load(REF)).toEqual(first);
  expect(disk.contents()).toEqual(before);
  if (first.kind === "refused") throw new Error(`refused: ${first.refusal.reason}`);
  return first.kind === "loaded" ? first.messages : [];
}

/** What is found after a crash is the old, the new, or the beginning of the new; and all of the new once it lasts. */
async function expectRecovered(
  { scenario, before, ...plant }: Given,
  disk: Disk,
  lasts: boolean,
): Promise<readonly TranscriptMessage[]> {
  const found = await loadTwice(plant, disk);
  const { after, mayBePart } = scenario;
  if (lasts) expect(found).toEqual(after);
  else if (mayBePart) expect([isPrefix(before, found), isPrefix(found, after)]).toEqual([true, true]);
  else expect([before, after]).toContainEqual(found);
  expectKept(scenario, disk, [...found, ...(await inCopies(plant, disk))]);
  return found;
}

async function inCopies(plant: Plant, disk: Disk): Promise<readonly TranscriptMessage[]> {
  const { store } = opened(plant, disk);
  const all = await Promise.all((await store.copies(REF)).map((copy) => loadAll(store, copy)));
  return all.flat();
}

/** What must never be lost is in the transcript, in a copy, or in the salvage. */
function expectKept({ keeps }: SweepScenario, disk: Disk, found: readonly TranscriptMessage[]): void {
  const salvage = disk.contents().get(PATHS.salvage) ?? "";
  const log = disk.contents().get(PATHS.log) ?? "";
  const isKept = (text: string) =>
    found.some((message) => message.text === text) || salvage.includes(text) || log.includes(text);
  expect(keeps.filter((text) => !isKept(text))).toEqual([]);
}

/** The next writer adds a turn, on the main path, to what was found. */
async function expectGoesOn(plant: Plant, disk: Disk, found: readonly TranscriptMessage[]): Promise<void> {
  const { store } = opened(plant, disk);
  const copies = await store.copies(REF);
  const session = await resumed(store);
  session.add(...turns("next"));
  expect(await session.save()).toMatchObject({ kind: "saved", warnings: [] });
  expect(await store.copies(REF)).toEqual(copies);
  disk.losePower("drop", () => 0);
  expect(await loadTwice(plant, disk)).toEqual([...found, ...turns("next")]);
  const { store: again } = opened(plant, disk);
  expect(await again.repair(REF)).toMatchObject({ kind: expect.stringMatching(/^(?:unchanged|repaired)$/) });
  expect(await again.verify(REF)).toMatchObject({ health: "healthy" });
}

/** The writer that comes after a crash is ended too, at each of its own boundaries in turn. */
async function crashAgain(given: Given, disk: Disk, options: { readonly at: number }): Promise<boolean> {
  const { scenario, ...plant } = given;
  const found = await loadTwice(plant, disk);
  // What nobody acknowledged and nobody made durable, a power cut may still take.
  const cut = disk.clone();
  cut.losePower("drop", () => 0);
  const old = await loadTwice(plant, cut);
  const fault: Fault = {
    at: options.at,
    mode: options.at % 2 === 0 ? "kill" : "power_loss",
    seed: options.at,
  };
  const { process, store } = opened(plant, disk, fault);
  const done = await process.run(async () => {
    await store.repair(REF);
    const session = await resumed(store);
    session.add(...turns("again"));
    return session.save();
  });
  if (done !== undefined) return false;
  const again = await loadTwice(plant, disk);
  const next = [...found, ...turns("again")];
  const mended = scenario.after.length > 0 ? [...scenario.after, ...turns("again")] : next;
  expect([next, mended, [...old, ...turns("again")]].some((whole) => isPrefix(again, whole))).toBe(true);
  await expectGoesOn(plant, disk, again);
  return true;
}

async function endedAt(given: Given, fault: Fault): Promise<Disk> {
  const { scenario, ...plant } = given;
  const disk = given.disk.clone();
  const { process, store } = opened(plant, disk, fault);
  const done = await process.run(() => scenario.act(store));
  if (done !== undefined) throw new Error("it was not ended");
  const { written, durable } = scenario.lasting;
  const lasting = fault.mode === "kill" ? written : durable;
  const found = await expectRecovered(given, disk, hasCrossed(process.crossed, lasting));
  const later = disk.clone();
  await expectGoesOn(plant, later, found);
  return disk;
}

/** A call that failed leaves the old, or all is done in spite of it; and the same again, with room, does it. */
async function failedAt(given: Given, fault: Fault): Promise<void> {
  const { scenario, before, ...plant } = given;
  const disk = given.disk.clone();
  const { process, store } = opened(plant, disk, fault);
  const attempt = () => scenario.act(store).catch((error: unknown) => error);
  const first = await attempt();
  if (first instanceof Error) expect(isAoError(first, "data_dir_unusable")).toBe(true);
  else {
    const acked = disk.clone();
    acked.losePower("drop", () => 0);
    expect(await loadTwice(plant, acked)).toEqual(scenario.after);
  }
  process.makeRoom();
  const found = await loadTwice(plant, disk);
  expect([before, scenario.after]).toContainEqual(found);
  const isWritten = hasCrossed(process.crossed, scenario.lasting.written);
  if (first instanceof Error && fault.mode === "ENOSPC" && !isWritten) expect(found).toEqual(before);
  expect(process.hasFaulted()).toBe(true);
  if (first instanceof Error) expect(await attempt()).not.toBeInstanceOf(Error);
  disk.losePower("drop", () => 0);
  expect(await loadTwice(plant, disk)).toEqual(scenario.after);
  await expectGoesOn(plant, disk, scenario.after);
}

async function meet(given: Given, fault: Fault, second: { at: number }): Promise<void> {
  if (fault.mode !== "kill" && fault.mode !== "power_loss") return failedAt(given, fault);
  const disk = await endedAt(given, fault);
  if (await crashAgain(given, disk.clone(), second)) second.at += 1;
  else second.at = 1;
}

/**
 * Runs a change once for each boundary and each mode, and once more inside what comes after it.
 *
 * @returns the names of the boundaries that were met.
 */
export async function sweepTranscript(
  scenario: SweepScenario,
  options: SweepOptions = {},
): Promise<readonly string[]> {
  const { modes = ALL_MODES, step = 1, first = 1, ...plant } = options;
  const given: Given = { ...plant, scenario, ...(await scenario.arrange(options.store)) };
  const boundaries = await boundariesOf(given);
  const second = { at: 1 };
  for (let at = first; at <= boundaries.length; at += step) {
    const name = boundaries[at - 1] ?? "";
    const wanted = modes.filter((mode) => mode === "EIO" || !READS.test(name));
    for (const fault of wanted.flatMap((mode) => faultsAt(at, mode))) {
      await meet(given, fault, second).catch((error: unknown) => {
        throw new Error(`${scenario.name}: ${JSON.stringify(fault)} at ${name}`, { cause: error });
      });
    }
  }
  return boundaries;
}

const LOG_CHANGE = /^(?:copy-)?log\.(?:write|rename|truncate|fsync):/;

/** The same; a change that never touches a log would prove nothing. */
export async function expectSwept(scenario: SweepScenario, options: SweepOptions = {}): Promise<void> {
  const boundaries = await sweepTranscript(scenario, options);
  expect(boundaries.filter((name) => LOG_CHANGE.test(name)).length).toBeGreaterThan(0);
}
