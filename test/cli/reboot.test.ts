import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { type Ao, aoSandbox } from "../support/ao.ts";
import { type Bystander, bystander } from "../support/bystander.ts";
import { reconcileSchema, showSchema } from "../support/json-schemas.ts";
import { isRunning } from "../support/tmux-server.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };

/** Ends a process without a word from it, as a power failure does. */
async function cut(pid: number): Promise<void> {
  process.kill(pid, "SIGKILL");
  await expect.poll(() => isRunning(pid), PATIENCE).toBe(false);
}

/**
 * All that a reboot does, however fast: no process is left, no socket, what is stored is of an earlier boot, and all
 * pids in it belong to `other`, which began at the same time after its own boot.
 */
async function reboot(ao: Ao, other: Bystander): Promise<void> {
  const server = Number(ao.tmux("display-message", "-p", "#{pid}"));
  const agents = ao.tmux("list-panes", "-a", "-F", "#{pane_pid}").split("\n").map(Number);
  for (const pid of [...agents, server]) await cut(pid);
  const runtimeDir = ao.env["XDG_RUNTIME_DIR"] ?? "";
  for (const name of readdirSync(runtimeDir)) rmSync(join(runtimeDir, name), { recursive: true });
  const before = JSON.stringify(other.predecessors["of an earlier boot"]);
  makeEarlier(ao, before);
  writeFileSync(join(ao.dataDir, "runtime", "tmux-server.json"), before);
}

function makeEarlier({ dataDir }: Ao, identity: string): void {
  const store = new Database(join(dataDir, "ao.db"));
  const paths = "'$.process', json(:identity), '$.runtime.server', json(:identity)";
  store.prepare(`UPDATE sessions SET metadata = json_set(metadata, ${paths})`).run({ identity });
  store.close();
}

const shown = (ao: Ao, id: string) => ao.json(showSchema, ["show", id]);

test("after a fast reboot one tick settles every session, and restore --all-lost brings all back with what they had", async () => {
  const ao = aoSandbox();
  const cwd = ao.repository();
  const ids = [
    await ao.spawn(cwd, ["--prompt", "write a one"]),
    await ao.spawn(cwd, ["--prompt", "ask two?"]),
  ];
  for (const [index, status] of ["idle", "needs_input"].entries()) await ao.until(ids[index] ?? "", status);
  await ao.run(["reconcile"]);
  const before = await Promise.all(ids.map((id) => shown(ao, id)));
  const other = await bystander();
  await reboot(ao, other);

  const { transitions } = await ao.json(reconcileSchema, ["reconcile"]);
  const end = { to: "killed", reason: "runtime_lost" };
  expect(transitions).toEqual([
    { id: ids[0], from: "idle", ...end },
    { id: ids[1], from: "needs_input", ...end },
  ]);

  const { exitCode, stdout } = await ao.run(["restore", "--all-lost", "--json"]);
  expect([exitCode, JSON.parse(stdout)]).toMatchObject([
    0,
    { restored: ids.map((id) => ({ id })), failed: [], left: [] },
  ]);
  for (const [index, id] of ids.entries()) {
    await ao.until(id, "idle");
    expect(await shown(ao, id)).toMatchObject({
      agentSessionId: before[index]?.agentSessionId,
      workspacePath: before[index]?.workspacePath,
    });
  }
  expect(readFileSync(join(before[0]?.workspacePath ?? "", "a"), "utf8")).toMatch(/^one/);
  other.expectUnharmed();
}, 90_000);
