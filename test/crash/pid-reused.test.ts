import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import type { ProcessIdentity } from "../../src/domain/session.ts";
import { type Ao, aoSandbox, FAULTY_AO } from "../support/ao.ts";
import { bystander, PREDECESSORS } from "../support/bystander.ts";
import { expectSound } from "../support/crash-traces.ts";
import { listSchema, reconcileSchema } from "../support/json-schemas.ts";
import { aPlace, CRASH_SCENARIOS, SHELL } from "./crash-scenarios.ts";

/** Puts another process on record at a path of a JSON column. */
function record(
  ao: Ao,
  { table, column, path }: { readonly table: string; readonly column: string; readonly path: string },
  identity: ProcessIdentity,
): void {
  const db = new Database(join(ao.dataDir, "ao.db"));
  try {
    const set = db.prepare(
      `UPDATE ${table} SET ${column} = json_set(${column}, ?, json(?)) WHERE ${column} IS NOT NULL`,
    );
    expect(set.run(path, JSON.stringify(identity)).changes).toBe(1);
  } finally {
    db.close();
  }
}

const OWNER = { table: "operations", column: "lease_owner", path: "$.process" };
const AGENT = { table: "sessions", column: "metadata", path: "$.process" };
const SERVER = { table: "sessions", column: "metadata", path: "$.runtime.server" };

/** A sandbox with one session, whose agent and tmux server it returns. */
async function oneSession() {
  const ao = aoSandbox(FAULTY_AO);
  const cwd = ao.repository();
  const id = await ao.spawn(cwd, SHELL);
  const [agent = 0, server = 0] = ao
    .tmux("list-panes", "-a", "-F", "#{pane_pid} #{pid}")
    .split(" ")
    .map(Number);
  return { ao, cwd, id, agent, server };
}

/** Ends a process that this test has started, and waits until it is gone. */
async function end(pid: number): Promise<void> {
  spawnSync("kill", ["-KILL", String(pid)]);
  const state = () => spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout;
  await expect.poll(state).toMatch(/^Z|^$/);
}

async function statusOf(ao: Ao): Promise<string | undefined> {
  return (await ao.json(listSchema, ["list", "-a"])).data[0]?.status;
}

/** As long after the last sign of life as it takes to count. */
const LATER = { env: { AO_FAULT_CLOCK_MS: "120000" } };

describe.each(PREDECESSORS)("a pid that a process %s had, and an unrelated one has now", (which) => {
  const scenarios = CRASH_SCENARIOS.filter(({ name }) => name === "spawn" || name === "kill");

  test.each(scenarios)("does not hold the $name of a dead process", async (scenario) => {
    const other = await bystander();
    const place = await aPlace();
    const { ao, repository } = place;
    const subject = await scenario.arrange(place, { id: null, branch: "subject", requestId: "r" });
    const argv = scenario.argv(subject);
    const env = { AO_FAULT_AT: `${argv[0]}.begin:after` };
    expect((await ao.run(argv, { cwd: repository, env })).exitCode).toBeNull();
    record(ao, OWNER, other.predecessors[which]);
    const last = await ao.run(argv, { cwd: repository });
    scenario.check(place, subject, { last, all: expectSound(ao, repository) });
    other.expectUnharmed();
  });

  test("is not the agent of a session whose own is dead", async () => {
    const other = await bystander();
    const { ao, cwd, id, agent } = await oneSession();
    await end(agent);
    record(ao, AGENT, other.predecessors[which]);
    expect(await statusOf(ao)).not.toBe("working");
    await ao.json(reconcileSchema, ["reconcile"], LATER);
    expect(await statusOf(ao)).toBe("killed");
    expect((await ao.run(["kill", id])).exitCode).toBe(0);
    expect(expectSound(ao, cwd).sessions).toEqual([]);
    other.expectUnharmed();
  });

  test("is neither agent nor server after both have died", async () => {
    const [agentsNow, serversNow] = [await bystander(), await bystander()];
    const { ao, cwd, id, agent, server } = await oneSession();
    await end(server);
    await end(agent);
    record(ao, AGENT, agentsNow.predecessors[which]);
    record(ao, SERVER, serversNow.predecessors[which]);
    const state = join(ao.dataDir, "runtime", "tmux-server.json");
    expect(existsSync(state)).toBe(true);
    writeFileSync(state, JSON.stringify(serversNow.predecessors[which]));
    expect(await statusOf(ao)).not.toBe("working");
    const { errors } = await ao.json(reconcileSchema, ["reconcile"], LATER);
    expect(errors).toEqual([]);
    expect(await statusOf(ao)).toBe("killed");
    await ao.json(reconcileSchema, ["reconcile"]);
    expect((await ao.run(["kill", id])).exitCode).toBe(0);
    await ao.spawn(cwd, SHELL);
    expect(expectSound(ao, cwd).sessions).toEqual(["shop-2 0"]);
    agentsNow.expectUnharmed();
    serversNow.expectUnharmed();
  });

  test("is not killed with a session that nobody has seen dead yet", async () => {
    const [agentsNow, serversNow] = [await bystander(), await bystander()];
    const { ao, cwd, id, agent, server } = await oneSession();
    await end(server);
    await end(agent);
    record(ao, AGENT, agentsNow.predecessors[which]);
    record(ao, SERVER, serversNow.predecessors[which]);
    expect((await ao.run(["kill", id])).exitCode).toBe(0);
    expectSound(ao, cwd);
    agentsNow.expectUnharmed();
    serversNow.expectUnharmed();
  });
});
