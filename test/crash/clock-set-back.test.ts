import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { sqliteStore } from "../../src/adapters/sqlite/store.ts";
import type { SessionRecord } from "../../src/domain/session.ts";
import { expectSound } from "../support/crash-traces.ts";
import { reconcileSchema, spawnSchema } from "../support/json-schemas.ts";
import { fakeTmux } from "../support/tmux-server.ts";
import { boundariesOf, crashAndRecover } from "./crash-run.ts";
import { aPlace, CRASH_SCENARIOS, expectNeighbourUnharmed, type Place, SHELL } from "./crash-scenarios.ts";
import { stoppedAt } from "./stopped-run.ts";

const HOUR_MS = 3_600_000;
const SPAWN = ["spawn", "--branch", "subject", "--request-id", "r", "--json", ...SHELL];

/** The environment of a command that has its clock set and perhaps cannot ask tmux anything. */
function withClock({ ao }: Place, aheadMs: number, tmuxSays?: string) {
  const tmux = tmuxSays === undefined ? {} : { PATH: `${dirname(fakeTmux(tmuxSays))}:${ao.env["PATH"]}` };
  return { AO_FAULT_CLOCK_MS: String(aheadMs), ...tmux };
}

const refusing = (message: string) => `echo '${message}' >&2; exit 1`;

/** One tick whose clock is set; whatever it meets is in its result. */
async function reconcileAt({ ao }: Place, env: Readonly<Record<string, string>>) {
  const { stdout } = await ao.run(["reconcile", "--json"], { env });
  return reconcileSchema.parse(JSON.parse(stdout));
}

function rowOf({ ao, neighbour }: Place, wanted = neighbour): SessionRecord {
  const store = sqliteStore({ path: join(ao.dataDir, "ao.db") });
  try {
    const row = store.sessions.list().find(({ id }) => id === wanted);
    if (row === undefined) throw new Error(`no row of ${wanted}`);
    return row;
  } finally {
    store.close();
  }
}

describe("a clock that is set back by an hour", () => {
  const killed = CRASH_SCENARIOS.filter(({ name }) => name === "spawn" || name === "kill");

  test.each(killed)("after the $name was killed: it is taken over at once", async (scenario) => {
    const place = await aPlace();
    const boundaries = await boundariesOf(place, scenario);
    await crashAndRecover(place, scenario, { at: Math.ceil(boundaries.length / 2), aheadMs: HOUR_MS });
  });

  test("while the holder of an operation lives: it is left alone, named, and carries its work to the end", async () => {
    const place = await aPlace();
    const { ao, repository } = place;
    const holder = await stoppedAt(place, SPAWN, { boundary: "spawn.created:after", aheadMs: HOUR_MS });
    const { operations, orphans } = await reconcileAt(place, {});
    expect({ operations, orphans }).toEqual({ operations: [], orphans: [] });
    const refused = await ao.error(
      SPAWN.filter((word) => word !== "--json"),
      { cwd: repository },
    );
    expect(refused).toMatchObject({ exitCode: 4, code: "operation_in_progress" });
    expect(refused.details).toMatchObject({ holder: { pid: holder.pid, command: "ao spawn" } });
    const { exitCode, stdout } = await holder.wake();
    expect(exitCode).toBe(0);
    const { id } = spawnSchema.parse(JSON.parse(stdout));
    expect((await reconcileAt(place, {})).operations).toEqual([]);
    expect(expectSound(ao, repository).rows.map((row) => row.id)).toEqual([place.neighbour, id]);
  });

  test("after a recovery failed: it is tried again at once, not in an hour", async () => {
    const place = await aPlace();
    const killed = { AO_FAULT_AT: "spawn.runtime.create:after" };
    expect((await place.ao.run(SPAWN, { cwd: place.repository, env: killed })).exitCode).toBeNull();
    const failed = await reconcileAt(place, withClock(place, HOUR_MS, refusing("protocol error")));
    expect(failed.operations).toMatchObject([{ kind: "spawn", outcome: "left" }]);
    const { operations, errors } = await reconcileAt(place, {});
    expect(operations).toMatchObject([{ kind: "spawn", outcome: "finished" }]);
    expect(errors).toEqual([]);
    expect(expectSound(place.ao, place.repository).sessions).toHaveLength(2);
  });

  test("while a session is in doubt: doubt is stuck after five minutes, and passes with the next good look", async () => {
    const place = await aPlace();
    const lookAt = async (ms: number, says: string) => {
      await reconcileAt(place, withClock(place, ms, refusing(says)));
      return rowOf(place).lifecycle.session.state;
    };
    expect(await lookAt(HOUR_MS, "one")).toBe("detecting");
    expect(await lookAt(0, "other")).toBe("detecting");
    expect(await lookAt(240_000, "one")).toBe("detecting");
    expect(await lookAt(310_000, "other")).toBe("stuck");
    await reconcileAt(place, {});
    expect(rowOf(place).lifecycle).toMatchObject({ detecting: null, runtime: { state: "alive" } });
    expectNeighbourUnharmed(place);
  });

  test("after an agent was heard and died: it is seen dead at once, and what it made stays", async () => {
    const place = await aPlace();
    const { ao } = place;
    await reconcileAt(place, {});
    expect(rowOf(place).lifecycle.activity.lastActivityAtMs).not.toBeNull();
    ao.tmux("kill-server");
    const isGone = () => ao.tmux("list-sessions") === "";
    await expect.poll(isGone).toBe(true);
    const lookAgain = async () => {
      await reconcileAt(place, withClock(place, -HOUR_MS));
      return rowOf(place).lifecycle.session;
    };
    await expect
      .poll(lookAgain, { timeout: 10_000 })
      .toEqual({ state: "terminated", reason: "runtime_lost" });
    expectNeighbourUnharmed(place);
  });

  test("after an agent was heard: what it says from then on is heard", async () => {
    const place = await aPlace();
    const { ao, repository } = place;
    const id = await ao.spawn(repository, ["--branch", "heard"]);
    await ao.until(id, "idle");
    const { launchId } = rowOf(place, id).metadata;
    const head = [
      "ao-hook 1",
      `session ${id}`,
      `launch ${launchId}`,
      "agent embedded",
      "event session_start",
    ];
    const ready = [...head, `time ${Date.now() + HOUR_MS}`, "", "{}"].join("\n");
    writeFileSync(join(ao.dataDir, "inbox", "new", "ready"), ready);
    await reconcileAt(place, withClock(place, HOUR_MS));
    expect(rowOf(place, id).metadata.heard?.atMs).toBeGreaterThan(Date.now());
    await ao.run(["send", id, "ask who?"]);
    await ao.until(id, "needs_input");
    await reconcileAt(place, {});
    expect(rowOf(place, id).lifecycle.session.state).toBe("needs_input");
  });
});
