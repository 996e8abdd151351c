import fc from "fast-check";
import { expect } from "vitest";
import { memoryLocks } from "../../src/adapters/memory/locks.ts";
import { isAoError } from "../../src/domain/errors.ts";
import type { SaveResult } from "../../src/ports/transcript-results.ts";
import type { TranscriptStore } from "../../src/ports/transcript-store.ts";
import { type Disk, emptyDisk, writeTo } from "../support/faulty-disk.ts";
import {
  type Fault,
  type FaultMode,
  type FaultyProcess,
  faultyProcess,
} from "../support/faulty-transcript-files.ts";
import {
  aMessage,
  type LiveSession,
  liveSession,
  loadAll,
  PATHS,
  REF,
  resumed,
  storeOn,
} from "../support/transcripts.ts";
import {
  afterSave,
  expectedResult,
  isPrefixOf,
  isSame,
  type Model,
  type ModelResult,
  type ModelSave,
} from "./transcript-model.ts";

/** What a writer does to its own conversation before it saves, or instead. */
type Change = "add" | "again" | "rewind" | "edit" | "compact";

type Step =
  | { readonly kind: "save"; readonly writer: number; readonly change: Change; readonly amount: number }
  | { readonly kind: "together"; readonly saves: readonly (readonly [Change, number])[] }
  /** A save that meets a fault. */
  | {
      readonly kind: "fault";
      readonly writer: number;
      readonly change: Change;
      readonly amount: number;
      readonly fault: Fault;
    }
  /** Adopts what is on disk; or goes on with what it has, as if it had never read it. */
  | { readonly kind: "reload" | "forget"; readonly writer: number }
  | { readonly kind: "repair" }
  | { readonly kind: "spoil"; readonly file: "checkpoint" | "ledger" | "index"; readonly how: number }
  | { readonly kind: "tear"; readonly text: string };

const aChange = fc.constantFrom<Change>("add", "add", "add", "again", "rewind", "edit", "compact");
const anAmount = fc.integer({ min: 0, max: 3 });
const aFault: fc.Arbitrary<Fault> = fc.record({
  at: fc.integer({ min: 1, max: 70 }),
  mode: fc.constantFrom("kill", "power_loss", "ENOSPC", "EIO", "short_write"),
  loss: fc.constantFrom("drop", "keep", "reorder"),
  seed: fc.nat(1_000_000),
});

function aStep(writers: number): fc.Arbitrary<Step> {
  const writer = fc.integer({ min: 0, max: writers - 1 });
  const save = { writer, change: aChange, amount: anAmount };
  return fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant("save" as const), ...save }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("fault" as const), ...save, fault: aFault }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("together" as const),
        saves: fc.array(fc.tuple(aChange, anAmount), { minLength: writers, maxLength: writers }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom("reload" as const, "reload" as const, "forget" as const),
        writer,
      }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: "repair" as const }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("spoil" as const),
        file: fc.constantFrom("checkpoint" as const, "ledger" as const, "index" as const),
        how: fc.nat(4),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("tear" as const),
        text: fc.constantFrom('{"schemaVersion":1,"type":"app', "\0\0\0\0", "not json\n", '{"a":1}'),
      }),
    },
  );
}

/** A history of two or three writers. */
const aHistory: fc.Arbitrary<{ readonly writers: number; readonly steps: readonly Step[] }> = fc
  .integer({ min: 2, max: 3 })
  .chain((writers) =>
    fc.record({
      writers: fc.constant(writers),
      steps: fc.array(aStep(writers), { minLength: 3, maxLength: 14 }),
    }),
  );

interface LiveWriter {
  readonly store: TranscriptStore;
  readonly session: LiveSession;
}

/** Everything that was promised of a conflicting continuation: these messages, one after the other, in this copy. */
interface Promise_ {
  readonly copy: string;
  readonly texts: readonly string[];
}

interface World {
  readonly disk: Disk;
  locks: ReturnType<typeof memoryLocks>;
  model: Model;
  /** What was on disk when a save was last acknowledged, and what was found there after crashes since. */
  mayRemain: readonly (readonly string[])[];
  readonly live: LiveWriter[];
  readonly promises: Promise_[];
  said: number;
}

const textsOf = (session: LiveSession) => session.messages().map(({ text }) => text);

function storeFor(world: World, writer: number, process: FaultyProcess = faultyProcess(world.disk)) {
  return storeOn(process.files, { writer: `writer-${writer}`, locks: world.locks });
}

/** A writer that has just been started: it knows what is on disk, and nothing else. */
async function start(world: World, writer: number): Promise<void> {
  const store = storeFor(world, writer);
  world.live[writer] = { store, session: await resumed(store) };
  const texts = textsOf(liveOf(world, writer).session);
  const base = world.model.main === null ? null : texts;
  world.model = { ...world.model, writers: world.model.writers.with(writer, { base, messages: texts }) };
}

function liveOf(world: World, writer: number): LiveWriter {
  const live = world.live[writer];
  if (live === undefined) throw new Error(`no writer ${writer}`);
  return live;
}

/** The messages a writer wants to have, and how it saves them. */
function plan(world: World, writer: number, change: Change, amount: number) {
  const { session } = liveOf(world, writer);
  const messages = session.messages();
  const fresh = Array.from({ length: amount }, () => {
    world.said += 1;
    return aMessage({ text: `said ${world.said} by ${writer}` });
  });
  const short = messages.slice(0, Math.max(0, messages.length - amount));
  const next = {
    add: [...messages, ...fresh],
    again: messages,
    rewind: short,
    edit: [...short, ...fresh],
    compact: messages,
  }[change];
  const { base } = world.model.writers[writer] ?? {};
  const texts = next.map(({ text }) => text);
  const isAppend = (change === "add" || change === "again") && isPrefixOf(base ?? [], texts);
  const save: ModelSave = change === "compact" ? "compact" : isAppend ? "append" : "rewrite";
  const { model } = world;
  world.model = { ...model, writers: model.writers.with(writer, { base: base ?? null, messages: texts }) };
  const act = (of: LiveSession) => {
    if (save === "compact") return of.compact(next);
    if (save === "rewrite") return of.rewrite(next);
    of.add(...next.slice(of.messages().length));
    return of.save();
  };
  return { save, act, texts };
}

function kindOf(result: SaveResult): string {
  return result.kind === "conflict" ? result.conflict : result.kind;
}

/** Remembers what a conflict promised to keep. */
function note(world: World, writer: number, result: SaveResult): void {
  if (result.kind !== "conflict" || result.copy === null) return;
  const { base, messages } = world.model.writers[writer] ?? { base: null, messages: [] };
  const common = (base ?? []).findIndex((text, at) => text !== messages[at]);
  const own = messages.slice(common === -1 ? (base?.length ?? 0) : common);
  world.promises.push({ copy: result.copy.name, texts: own });
}

async function saveOnce(world: World, writer: number, change: Change, amount: number): Promise<void> {
  const { save, act } = plan(world, writer, change, amount);
  const state = world.model.writers[writer];
  if (state === undefined) throw new Error(`no writer ${writer}`);
  const expected = expectedResult(world.model, state, save);
  const result = await act(liveOf(world, writer).session);
  expect(kindOf(result)).toBe(expected);
  note(world, writer, result);
  acknowledge(world, afterSave(world.model, writer, save, expected), [expected]);
}

function acknowledge(world: World, model: Model, results: readonly ModelResult[]): void {
  world.model = model;
  if (results.includes("saved") || results.includes("unchanged")) world.mayRemain = [model.main ?? []];
}

/** Every order in which these can have come. */
function orders(items: readonly number[]): readonly (readonly number[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((first) =>
    orders(items.filter((item) => item !== first)).map((rest) => [first, ...rest]),
  );
}

/** All writers save at once: it is as if they had come one after the other. */
async function saveTogether(world: World, saves: readonly (readonly [Change, number])[]): Promise<void> {
  const plans = saves.map(([change, amount], writer) => plan(world, writer, change, amount));
  const results = await Promise.all(plans.map(({ act }, writer) => act(liveOf(world, writer).session)));
  const loading = loadAll(storeFor(world, 0));
  for (const [writer, result] of results.entries()) note(world, writer, result);
  const found = (await loading).map(({ text }) => text);
  const possible = orders(plans.map((_, writer) => writer)).map((order) => {
    let model = world.model;
    const kinds: ModelResult[] = [];
    for (const writer of order) {
      const state = model.writers[writer];
      const { save } = plans[writer] ?? {};
      if (state === undefined || save === undefined) throw new Error(`no writer ${writer}`);
      const expected = expectedResult(model, state, save);
      kinds[writer] = expected;
      model = afterSave(model, writer, save, expected);
    }
    return { model, kinds };
  });
  const kinds = results.map(kindOf);
  const match = possible.find((one) => isSame(one.kinds, kinds) && isSame(one.model.main ?? [], found));
  if (match === undefined) throw new Error(`no order gives ${kinds.join(", ")} and ${found.join(", ")}`);
  acknowledge(world, match.model, match.kinds);
}

/** A save that meets a fault: what is found is the old, the new, or, of an append, a part of it. */
async function saveFaulty(world: World, step: Step & { readonly kind: "fault" }): Promise<void> {
  const { writer, change, amount, fault } = step;
  const { save, act, texts } = plan(world, writer, change, amount);
  const state = world.model.writers[writer];
  if (state === undefined) throw new Error(`no writer ${writer}`);
  const expected = expectedResult(world.model, state, save);
  const process = faultyProcess(world.disk, fault);
  const { session } = liveOf(world, writer);
  const moved = session.movedTo(storeFor(world, writer, process));
  const done = await process.run(() => act(moved).catch((error: unknown) => error));
  process.makeRoom();
  if (done === undefined) return afterCrash(world, step, { save, texts, expected, mode: fault.mode });
  if (done.result instanceof Error) {
    expect(isAoError(done.result, "data_dir_unusable")).toBe(true);
    await expectFound(world, { save, texts, expected, mode: fault.mode });
    const next = expectedResult(world.model, state, save);
    expect([expected, "unchanged"]).toContain(next);
    const again = await act(moved);
    expect(kindOf(again)).toBe(next);
    note(world, writer, again);
    acknowledge(world, afterSave(world.model, writer, save, next), [next]);
  } else {
    const result = done.result as SaveResult;
    expect(kindOf(result)).toBe(expected);
    note(world, writer, result);
    acknowledge(world, afterSave(world.model, writer, save, expected), [expected]);
  }
  world.live[writer] = { store: storeFor(world, writer), session: moved.movedTo(storeFor(world, writer)) };
}

interface Attempted {
  readonly save: ModelSave;
  readonly texts: readonly string[];
  readonly expected: ModelResult;
  readonly mode: FaultMode;
}

/** Whether this can be what was there before; a machine that lost its power may have gone back further. */
function mayBeFound(world: World, mode: FaultMode, found: readonly string[] | null): boolean {
  return mode === "power_loss" ? maySurvive(world, found ?? []) : isSame(found, world.model.main);
}

/** Whether this can be left when the power fails: what was acknowledged, or more of what was found since. */
function maySurvive({ mayRemain }: World, found: readonly string[]): boolean {
  return mayRemain.some((floor, at) => {
    const next = mayRemain[at + 1] ?? floor;
    return isSame(found, floor) || (isPrefixOf(floor, found) && isPrefixOf(found, next));
  });
}

/** What a load finds; `null` when there is nothing. */
async function foundBy(store: TranscriptStore) {
  const loaded = await store.load(REF);
  if (loaded.kind === "refused") throw new Error(`refused: ${loaded.refusal.reason}`);
  if (loaded.kind === "missing") return { found: null, wasRewritten: false };
  return { found: loaded.messages.map(({ text }) => text), wasRewritten: loaded.head.rewrites > 1 };
}

/** Whether this can be what the save wrote, or of an append the beginning of it. */
function mayBeWritten(world: World, { save, texts, expected }: Attempted, found: readonly string[] | null) {
  if (expected !== "saved" || found === null) return false;
  const isPart = save === "append" && isPrefixOf(world.model.main ?? [], found) && isPrefixOf(found, texts);
  return isPart || isSame(found, texts);
}

/** Takes over what is found on the disk, when it is something that may be found. */
async function expectFound(world: World, attempted: Attempted): Promise<void> {
  const { mode } = attempted;
  const { found, wasRewritten } = await foundBy(storeFor(world, 0));
  const isAllowed = mayBeFound(world, mode, found) || mayBeWritten(world, attempted, found);
  expect({ found, isAllowed }).toEqual({ found, isAllowed: true });
  world.model = { ...world.model, main: found, wasRewritten };
  world.mayRemain = mode === "power_loss" ? [found ?? []] : [...world.mayRemain, found ?? []];
}

async function afterCrash(
  world: World,
  { writer, fault }: Step & { readonly kind: "fault" },
  attempted: Attempted,
): Promise<void> {
  world.locks = memoryLocks();
  await expectFound(world, attempted);
  const all = world.live.map((_, at) => at);
  for (const at of fault.mode === "power_loss" ? all : [writer]) await start(world, at);
  for (const [at, { session }] of world.live.entries()) {
    const store = storeFor(world, at);
    world.live[at] = { store, session: session.movedTo(store) };
  }
}

const SPOILT: readonly ((text: string) => string | undefined)[] = [
  () => undefined,
  () => "",
  (text) => "\0".repeat(text.length),
  (text) => text.slice(0, Math.floor(text.length / 2)),
  () => '{"schemaVersion":0,"revision":99999}',
];

function spoil({ disk }: World, file: "checkpoint" | "ledger" | "index", how: number): void {
  const path = PATHS[file];
  const inode = disk.find(path);
  const text = SPOILT[how]?.(new TextDecoder().decode(inode?.bytes));
  if (inode === undefined) return;
  if (text === undefined) disk.unlink(path);
  else {
    disk.truncate(path, 0);
    if (text.length > 0) writeTo(inode, new TextEncoder().encode(text));
    disk.fsync(inode);
  }
  disk.fsyncFolder(REF.folder);
}

function tear({ disk }: World, text: string): void {
  const inode = disk.find(PATHS.log);
  if (inode === undefined || inode.bytes.length === 0) return;
  writeTo(inode, new TextEncoder().encode(text));
  disk.fsync(inode);
}

async function takeStep(world: World, step: Step): Promise<void> {
  switch (step.kind) {
    case "save":
      return saveOnce(world, step.writer, step.change, step.amount);
    case "together":
      return saveTogether(world, step.saves);
    case "fault":
      return saveFaulty(world, step);
    case "reload":
      return start(world, step.writer);
    case "forget": {
      const { store, session } = liveOf(world, step.writer);
      const forgetful = liveSession(store);
      forgetful.add(...session.messages());
      world.live[step.writer] = { store, session: forgetful };
      const messages = textsOf(session);
      const writers = world.model.writers.with(step.writer, { base: null, messages });
      world.model = { ...world.model, writers };
      return;
    }
    case "repair":
      await storeFor(world, 0).repair(REF);
      return;
    case "spoil":
      return spoil(world, step.file, step.how);
    case "tear":
      return tear(world, step.text);
  }
}

/** What is on disk is what the model says, a loss of power takes nothing acknowledged, every promise is kept. */
async function expectSound(world: World): Promise<void> {
  const main = world.model.main ?? [];
  expect(await soundTexts(world, world.disk)).toEqual(main);
  const lost = world.disk.clone();
  lost.losePower("drop", () => 0);
  const found = await soundTexts(world, lost);
  const isSafe = maySurvive(world, found);
  expect({ found, isSafe }).toEqual({ found, isSafe: true });
}

async function soundTexts(world: World, disk: Disk): Promise<readonly string[]> {
  const store = storeOn(faultyProcess(disk).files);
  const before = disk.contents();
  const found = (await loadAll(store)).map(({ text }) => text);
  expect(disk.contents()).toEqual(before);
  const copies = await store.copies(REF);
  expect(copies.length).toBeLessThanOrEqual(world.live.length);
  for (const copy of copies) {
    const texts = (await loadAll(store, copy)).map(({ text }) => text).join("\n");
    const promised = world.promises.filter((one) => one.copy === copy.name);
    expect(promised.filter((one) => !texts.includes(one.texts.join("\n")))).toEqual([]);
  }
  return found;
}

/** Lives through a history on a disk of its own. */
async function live({ writers, steps }: { readonly writers: number; readonly steps: readonly Step[] }) {
  const model = { main: null, wasRewritten: false, writers: [] };
  const world: World = {
    disk: emptyDisk(),
    locks: memoryLocks(),
    model,
    mayRemain: [[]],
    live: [],
    promises: [],
    said: 0,
  };
  for (let writer = 0; writer < writers; writer++) {
    world.model = { ...world.model, writers: [...world.model.writers, { base: null, messages: [] }] };
    await start(world, writer);
  }
  for (const step of steps) {
    await takeStep(world, step);
    await expectSound(world);
  }
}

/**
 * Lives through that many histories, the first ones always the same. A failure prints its seed and path, and
 * the shortest history that fails; `AO_CRASH_FIRST_SEED` gives others.
 */
export async function expectHistories(count: number): Promise<void> {
  const seed = Number(process.env["AO_CRASH_FIRST_SEED"] ?? 1);
  await fc.assert(fc.asyncProperty(aHistory, live), { numRuns: count, seed });
}
