import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isAoError } from "../../../../src/domain/errors.ts";
import { isFinished, type LeasedOperation, type Operation } from "../../../../src/domain/operation.ts";
import { projectId, sessionId } from "../../../support/builders.ts";
import { aLedgerWorld, aPrepareRequest, type LedgerWorld, type Worker } from "./ledger-world.ts";

const SESSIONS = ["app-1", "app-2"] as const;

/** Everything that workers do at random: who, on what, and how. */
interface Act {
  readonly name: "begin" | "prepare" | "claim" | "takeOver" | "checkpoint" | "release" | "complete" | "fail";
  readonly worker: number;
  readonly session: (typeof SESSIONS)[number];
  readonly subject: string;
  readonly input: number;
  /** Chooses among everything that was ever held, by whomever. */
  readonly pick: number;
  readonly elapsedMs: number;
  readonly dies: boolean;
}

const anyActs: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.record({
    name: fc.constantFrom(
      ...(["begin", "prepare", "claim", "takeOver", "checkpoint", "release", "complete", "fail"] as const),
    ),
    worker: fc.nat({ max: 2 }),
    session: fc.constantFrom(...SESSIONS),
    subject: fc.constantFrom("request-1", "request-2"),
    input: fc.nat({ max: 1 }),
    pick: fc.nat({ max: 100 }),
    elapsedMs: fc.constantFrom(0, 1, 1_000, 31_000, 300_000, -3_600_000),
    dies: fc.boolean(),
  }),
  { maxLength: 40 },
);

interface Play {
  readonly world: LedgerWorld;
  readonly workers: Worker[];
  readonly held: LeasedOperation[];
}

function aPlay(): Play {
  const world = aLedgerWorld();
  return { world, workers: [world.worker(), world.worker(), world.worker()], held: [] };
}

/** What completes with an operation, so that the changes tell how often it happened. */
function effect({ world: { store, clock } }: Play, { id }: Operation): void {
  const [project, session] = [projectId("app"), sessionId("app-1")];
  store.changes.append({
    atMs: clock.nowMs(),
    projectId: project,
    sessionId: session,
    type: "effect",
    data: id,
  });
}

async function act(play: Play, act: Act): Promise<void> {
  const { world, workers, held } = play;
  const worker = workers[act.worker] ?? world.worker();
  world.clock.advance(act.elapsedMs);
  try {
    await actAs(play, worker, act);
  } catch (error) {
    if (!isAoError(error, "operation_in_progress")) throw error;
  }
  if (!act.dies || held.length % 3 !== 0) return;
  worker.die();
  workers[act.worker] = world.worker();
}

async function actAs(play: Play, { ledger }: Worker, { name, pick, ...what }: Act): Promise<void> {
  const { world, held } = play;
  const request = aPrepareRequest({ ...what, sessionId: what.session });
  const mine = held[pick % Math.max(1, held.length)];
  const keep = ({ kind, operation }: { readonly kind: string; readonly operation: Operation }) => {
    if (kind === "claimed" || kind === "begun") held.push(operation as LeasedOperation);
  };
  if (name === "begin") return keep(ledger.begin(request));
  if (name === "prepare") return keep(ledger.prepare(request));
  if (name === "takeOver") return takeOver(play, ledger);
  const unfinished = world.store.operations.unfinished().operations;
  const target = unfinished[pick % Math.max(1, unfinished.length)] ?? mine;
  if (name === "claim") return target && keep(await ledger.claim(target.id));
  if (mine !== undefined) work(play, ledger, { name, mine });
}

async function takeOver(play: Play, ledger: Worker["ledger"]): Promise<void> {
  await ledger.takeOver(async (operation) => {
    if (operation.attempt % 2 === 0) throw new Error("not this time");
    ledger.complete(operation, "carried on", () => effect(play, operation));
  });
}

function work(
  play: Play,
  ledger: Worker["ledger"],
  { name, mine }: { readonly name: Act["name"]; readonly mine: LeasedOperation },
): void {
  const error = { code: "internal", message: "no" };
  if (name === "checkpoint") ledger.checkpoint(mine, play.world.clock.nowMs());
  if (name === "release") ledger.release(mine, { lastError: "no" });
  if (name === "complete") ledger.complete(mine, "done", () => effect(play, mine));
  if (name === "fail") ledger.fail(mine, { error, result: null });
}

function allRows({ store }: LedgerWorld): ReadonlyMap<string, Operation> {
  const rows = SESSIONS.flatMap((id) => store.operations.ofSession(sessionId(id), 1_000).operations);
  return new Map(rows.map((row) => [row.id, row]));
}

async function everyMoment(
  check: (
    before: ReadonlyMap<string, Operation>,
    after: ReadonlyMap<string, Operation>,
    world: LedgerWorld,
  ) => void,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(anyActs, async (acts) => {
      const play = aPlay();
      for (const each of acts) {
        const before = allRows(play.world);
        await act(play, each);
        check(before, allRows(play.world), play.world);
      }
    }),
  );
}

describe("whatever three workers do at once on two sessions", () => {
  test("every state is reached, and further attempts are", async () => {
    const rows: Operation[] = [];
    for (const acts of fc.sample(anyActs, { numRuns: 200, seed: 7 })) {
      const play = aPlay();
      for (const each of acts) await act(play, each);
      rows.push(...allRows(play.world).values());
    }
    const reached = new Set(rows.map(({ state }) => state.kind));
    expect([...reached].sort()).toEqual(["completed", "failed", "leased", "prepared"]);
    expect(rows.filter(({ attempt }) => attempt > 1).length).toBeGreaterThan(10);
  });

  test("a session has one unfinished operation at most", async () => {
    await everyMoment((_before, _after, { store }) => {
      const sessions = store.operations.unfinished().operations.map((operation) => operation.sessionId);
      expect(new Set(sessions).size).toBe(sessions.length);
    });
  });

  test("what is finished never changes, and no row is lost", async () => {
    await everyMoment((before, after) => {
      for (const row of before.values()) {
        expect(after.has(row.id)).toBe(true);
        if (isFinished(row)) expect(after.get(row.id)).toEqual(row);
      }
    });
  });

  test("the version of a row grows with every change of it", async () => {
    await everyMoment((before, after) => {
      for (const row of before.values()) {
        const next = after.get(row.id);
        if (next?.version === row.version) expect(next).toEqual(row);
        else expect(next?.version).toBeGreaterThan(row.version);
      }
    });
  });

  test("each operation is told once when it is prepared and once when it ends, with its effect", async () => {
    await everyMoment((_before, after, world) => {
      const told = world.changes();
      const count = (type: string) => told.filter((each) => each === type).length;
      const rows = [...after.values()];
      const inState = (kind: string) => rows.filter(({ state }) => state.kind === kind).length;
      expect(count("operation.prepared")).toBe(rows.length);
      expect(count("operation.completed")).toBe(inState("completed"));
      expect(count("operation.failed")).toBe(inState("failed"));
      expect(count("effect")).toBe(inState("completed"));
    });
  });
});
