import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../../src/adapters/node/system-clock.ts";
import { systemIds } from "../../../../src/adapters/node/system-ids.ts";
import { systemProcessTable } from "../../../../src/adapters/processes/system-process-table.ts";
import { sqliteStore } from "../../../../src/adapters/sqlite/store.ts";
import { type OperationLedger, operationLedger } from "../../../../src/lifecycle/operations/ledger.ts";
import type { Store } from "../../../../src/ports/store.ts";
import { aProcess, aSession } from "../../../support/builders.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { aPrepareRequest } from "../../lifecycle/operations/ledger-world.ts";
import { tamper } from "./database-files.ts";
import { type StoreProcess, storeProgram } from "./store-program.ts";

const WAIT = { timeout: 20_000, interval: 5 };

/**
 * A ledger of a process of its own. `gate` waits until all may start, and `finish` until all are done: who has
 * ended holds nothing any more.
 */
const LEDGER = `
  import { systemClock } from "../../../../src/adapters/node/system-clock.ts";
  import { systemIds } from "../../../../src/adapters/node/system-ids.ts";
  import { systemProcessTable } from "../../../../src/adapters/processes/system-process-table.ts";
  import { operationLedger } from "../../../../src/lifecycle/operations/ledger.ts";
  import { aPrepareRequest } from "../../lifecycle/operations/ledger-world.ts";
  const { sessions, operations, changes, close } = sqliteStore({ path });
  const processes = systemProcessTable();
  const self = { process: await processes.identify(process.pid), command: "ao test" };
  const ids = systemIds();
  const ledger = operationLedger({
    store: sessions, operations, changes, processes, clock: systemClock(), ids, self,
  });
  const reached = (file, word) => { say(word); while (!existsSync(file)) pause(1); };
  const gate = () => reached(argument, "ready");
  const finish = () => { reached(argument + ".end", "done"); close(); };
`;

function open(path: string): Store {
  const store = sqliteStore({ path });
  onTestFinished(() => store.close());
  return store;
}

function ledgerOn({ sessions, operations, changes }: Store): OperationLedger {
  return operationLedger({
    ...{ store: sessions, operations, changes, processes: systemProcessTable() },
    ...{ clock: systemClock(), ids: systemIds(), self: { process: aProcess(), command: "ao test" } },
  });
}

const of = (number: number) => aPrepareRequest({ sessionId: `app-${number}` });

/** Starts `count` processes of a program, lets them go at the same moment, and waits for their ends. */
async function race(path: string, source: string, count = 4): Promise<readonly StoreProcess[]> {
  const gate = join(tempDir(), "go");
  const start = await storeProgram(LEDGER + source);
  const processes = Array.from({ length: count }, () => start(path, gate));
  await allSay(processes, "ready");
  writeFileSync(gate, "");
  await allSay(processes, "done");
  writeFileSync(`${gate}.end`, "");
  await Promise.all(processes.map((process) => process.ended));
  return processes;
}

async function allSay(processes: readonly StoreProcess[], word: string): Promise<void> {
  for (const process of processes) await expect.poll(() => process.lines().at(-1), WAIT).toBe(word);
}

function said(processes: readonly StoreProcess[]): readonly string[] {
  return processes.flatMap((process) => process.lines().slice(1, -1));
}

describe("processes on one ledger", () => {
  test("that claim the same operations at once: exactly one gets each", async () => {
    const path = join(tempDir(), "ao.db");
    const store = open(path);
    for (let number = 1; number <= 40; number++) ledgerOn(store).prepare(of(number));
    const processes = await race(
      path,
      `const all = operations.unfinished().operations;
       gate();
       for (const { id } of all) say(id + " " + (await ledger.claim(id)).kind);
       finish();`,
    );
    const { operations } = store.operations.unfinished();
    const claims = said(processes).filter((line) => line.endsWith(" claimed"));
    expect(claims.sort()).toEqual(operations.map(({ id }) => `${id} claimed`).sort());
    expect(operations.map(({ attempt, version }) => [attempt, version])).toEqual(
      operations.map(() => [1, 2]),
    );
  });

  test("that take over at once: each operation is completed once, with its effect", async () => {
    const path = join(tempDir(), "ao.db");
    const store = open(path);
    for (let number = 1; number <= 40; number++) ledgerOn(store).prepare(of(number));
    const processes = await race(
      path,
      `gate();
       const { errors } = await ledger.takeOver(async (held) => {
         say(held.sessionId);
         ledger.complete(held, null, (store) => store.rememberOnce(held.sessionId, String(process.pid)));
       });
       for (const error of errors) say("error " + error.message);
       finish();`,
    );
    const all = Array.from({ length: 40 }, (_, index) => `app-${index + 1}`);
    expect([...said(processes)].sort()).toEqual(all.sort());
    const types = store.changes.after(0, 1_000).map(({ type }) => type);
    expect(types.filter((type) => type === "operation.completed")).toHaveLength(40);
    expect(store.operations.unfinished().operations).toEqual([]);
  });

  test("that ask for the same at once: one begins it, the others find it", async () => {
    const path = join(tempDir(), "ao.db");
    open(path);
    const processes = await race(
      path,
      `gate();
       for (let number = 1; number <= 20; number++) {
         say(number + " " + ledger.begin(aPrepareRequest({ sessionId: "app-" + number })).kind);
       }
       finish();`,
    );
    const outcomes = said(processes);
    for (let number = 1; number <= 20; number++) {
      const ofThis = outcomes.filter((line) => line.startsWith(`${number} `)).sort();
      expect(ofThis).toEqual([`${number} begun`, ...Array.from({ length: 3 }, () => `${number} found`)]);
    }
  });

  test("that ask for different things of one session at once: one begins, the others are busy", async () => {
    const path = join(tempDir(), "ao.db");
    open(path);
    const processes = await race(
      path,
      `gate();
       for (let number = 1; number <= 20; number++) {
         const request = aPrepareRequest({ sessionId: "app-" + number, subject: String(process.pid) });
         say(number + " " + ledger.begin(request).kind);
       }
       finish();`,
    );
    const outcomes = said(processes);
    for (let number = 1; number <= 20; number++) {
      const ofThis = outcomes.filter((line) => line.startsWith(`${number} `)).sort();
      expect(ofThis).toEqual([`${number} begun`, ...Array.from({ length: 3 }, () => `${number} busy`)]);
    }
  });

  test("a holder that is killed is taken over at once", async () => {
    const path = join(tempDir(), "ao.db");
    const store = open(path);
    const start = await storeProgram(`${LEDGER}
      ledger.begin(aPrepareRequest());
      say("held");
      pause(60000);
    `);
    const holder = start(path);
    await expect.poll(() => holder.lines().length, WAIT).toBe(1);
    const ledger = ledgerOn(store);
    const { operation } = ledger.begin(aPrepareRequest());
    expect((await ledger.claim(operation.id)).kind).toBe("held");
    await holder.kill();
    expect(await ledger.claim(operation.id)).toMatchObject({ kind: "claimed", operation: { attempt: 2 } });
  });
});

describe("one transaction", () => {
  const END = `ledger.complete(held, "done", (store) => store.rememberOnce("effect", "done"));`;

  test("leaves nothing of a session, an operation and a change when its process is killed in it", async () => {
    const path = join(tempDir(), "ao.db");
    const store = open(path);
    const start = await storeProgram(`${LEDGER}
      const { operation: held } = ledger.begin(aPrepareRequest());
      ledger.complete(held, "done", (store) => {
        store.rememberOnce("effect", "done");
        changes.append({ ...changes.after(0, 1)[0], type: "effect" });
        say("inside");
        pause(60000);
      });
    `);
    const holder = start(path);
    await expect.poll(() => holder.lines().length, WAIT).toBe(1);
    await holder.kill();
    expect(store.changes.after(0, 10).map(({ type }) => type)).toEqual(["operation.prepared"]);
    expect(store.sessions.rememberOnce("effect", "none")).toBe("none");
    expect(store.operations.unfinished().operations[0]?.state.kind).toBe("leased");
  });

  test.each([
    ["change log", "CREATE TRIGGER full BEFORE INSERT ON changes BEGIN SELECT RAISE(ABORT, 'no space'); END"],
    ["ledger", "CREATE TRIGGER full BEFORE UPDATE ON operations BEGIN SELECT RAISE(ABORT, 'no space'); END"],
  ])("is undone as a whole when the %s cannot be written", (_what, fault) => {
    const path = join(tempDir(), "ao.db");
    const store = open(path);
    const ledger = ledgerOn(store);
    const outcome = ledger.begin(aPrepareRequest());
    if (outcome.kind !== "begun") throw new Error(outcome.kind);
    tamper(path, fault);
    const end = () =>
      ledger.complete(outcome.operation, "done", (sessions) => {
        sessions.transaction(() => sessions.insert(aSession()));
      });
    expect(end).toThrow(expect.objectContaining({ message: expect.stringContaining("no space") }));
    expect(store.sessions.list()).toEqual([]);
    expect(store.operations.get(outcome.operation.id)).toEqual(outcome.operation);
    expect(store.changes.last()).toBe(1);
    tamper(path, "DROP TRIGGER full");
    expect(end().state.kind).toBe("completed");
    expect(store.sessions.list()).toEqual([aSession()]);
  });

  test("of another process never lets a reader of changes miss one or see one twice", async () => {
    const path = join(tempDir(), "ao.db");
    const store = open(path);
    const gate = join(tempDir(), "go");
    const start = await storeProgram(`${LEDGER}
      gate();
      for (let number = 1; number <= 60; number++) {
        const { operation: held } = ledger.begin(aPrepareRequest({ sessionId: null, subject: process.pid + "-" + number }));
        ${END}
      }
      close();
    `);
    const writers = Array.from({ length: 3 }, () => start(path, gate));
    for (const writer of writers) await expect.poll(() => writer.lines().length, WAIT).toBe(1);
    writeFileSync(gate, "");
    const read: number[] = [];
    const follow = () => {
      read.push(...store.changes.after(read.at(-1) ?? 0, 7).map(({ sequence }) => sequence));
      return read.length;
    };
    await expect.poll(follow, { timeout: 20_000, interval: 0 }).toBe(360);
    expect(read).toEqual(Array.from({ length: 360 }, (_, index) => index + 1));
    await Promise.all(writers.map((writer) => writer.ended));
    expect(store.changes.last()).toBe(360);
  });
});
