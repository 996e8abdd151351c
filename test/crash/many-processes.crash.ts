import { join } from "node:path";
import { expect, test } from "vitest";
import { sqliteStore } from "../../src/adapters/sqlite/store.ts";
import { type Ao, aoSandbox, type Result } from "../support/ao.ts";
import { expectSound } from "../support/crash-traces.ts";
import { errorSchema, reconcileSchema } from "../support/json-schemas.ts";
import { SHELL } from "./crash-scenarios.ts";
import { tell } from "./every-boundary.ts";
import { randomNumbers } from "./random-numbers.ts";

const PROCESSES = 30;
const SECONDS = Number(process.env["AO_CRASH_SECONDS"] ?? 20);
const SLOTS = 10;
/** What a command may meet when others work on the same session. */
const EXPECTED = ["operation_in_progress", "not_restorable"];

type Random = (below: number) => number;

const spawnOf = (slot: number) => [
  ...["spawn", "--branch", `slot/${slot}`, "--request-id", `slot-${slot}`, "--json"],
  ...SHELL,
];

function anyCommand(random: Random): readonly string[] {
  const slot = random(SLOTS);
  const id = `shop-${1 + slot}`;
  const commands = [
    spawnOf(slot),
    ["kill", id, "--json"],
    ["kill", id, "--keep-worktree", "--json"],
    ["restore", id, "--fresh", "--json"],
    ["list", "-a", "--json"],
    ["cleanup", "--json"],
  ];
  return commands[random(commands.length)] ?? [];
}

/** Why a result is none that may be; `null` when it may. */
function troubleOf({ exitCode, stdout, stderr }: Result): string | null {
  if (exitCode === 0) return stderr === "" ? null : stderr;
  const lines = stderr.trimEnd().split("\n");
  const error = lines.length === 1 ? errorSchema.safeParse(JSON.parse(lines[0] ?? "")) : undefined;
  if (error?.success === true && EXPECTED.includes(error.data.error.code)) return null;
  return `exit ${exitCode}: ${stderr}${stdout}`;
}

/** Looks over and over at what has to be true at any moment. */
async function watch(ao: Ao, isOver: () => boolean): Promise<number> {
  const store = sqliteStore({ path: join(ao.dataDir, "ao.db") });
  let last = 0;
  try {
    while (!isOver()) {
      const changes = store.changes.after(last, 10_000);
      expect(changes.map(({ sequence }) => sequence)).toEqual(changes.map((_, index) => last + index + 1));
      last += changes.length;
      expect(store.sessions.list()).toHaveLength(SLOTS);
      const busy = store.operations.unfinished().operations.flatMap(({ sessionId }) => sessionId ?? []);
      expect(busy).toEqual([...new Set(busy)]);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return last;
  } finally {
    store.sessions.close();
  }
}

test(`${PROCESSES} processes that do anything to ${SLOTS} sessions for ${SECONDS} s leave all of it sound`, async () => {
  const ao = aoSandbox();
  const cwd = ao.repository();
  for (let slot = 0; slot < SLOTS; slot++) expect((await ao.run(spawnOf(slot), { cwd })).exitCode).toBe(0);

  const endMs = Date.now() + SECONDS * 1000;
  const isOver = () => Date.now() > endMs;
  const troubles: string[] = [];
  const counts = new Map<string, number>();
  async function work(random: Random): Promise<void> {
    while (!isOver()) {
      const argv = anyCommand(random);
      const result = await ao.run(argv, { cwd });
      const trouble = troubleOf(result);
      if (trouble !== null) troubles.push(`ao ${argv.join(" ")}: ${trouble}`);
      const what = `${argv[0]} ${result.exitCode}`;
      counts.set(what, (counts.get(what) ?? 0) + 1);
    }
  }
  const workers = Array.from({ length: PROCESSES }, (_, index) => work(randomNumbers(index + 1)));
  const changes = await watch(ao, isOver);
  await Promise.all(workers);
  tell(
    `${changes} changes; commands by exit code: ${JSON.stringify(Object.fromEntries([...counts].sort()))}`,
  );
  expect(troubles).toEqual([]);
  const { operations, orphans, errors } = await ao.json(reconcileSchema, ["reconcile"]);
  expect({ operations, orphans, errors }).toEqual({ operations: [], orphans: [], errors: [] });
  expectSound(ao, cwd);
});
