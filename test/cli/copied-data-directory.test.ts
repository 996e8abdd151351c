import { cpSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Ao, aoSandbox } from "../support/ao.ts";
import { killSchema, listSchema } from "../support/json-schemas.ts";

const panes = ({ tmux }: Ao) => tmux("list-panes", "-a", "-F", "#{@ao_session_id} #{pane_dead}");

async function oneSession(...argv: readonly string[]) {
  const ao = aoSandbox();
  const id = await ao.spawn(ao.repository(), argv);
  return { ao, id, elsewhere: join(ao.root, "elsewhere") };
}

/** Its work takes longer than the test. */
const WORKING = ["--prompt", "wait 300"];
const SLEEPING = ["--agent", "shell", "--", "sleep", "300"];

test("no command in a copy of the data directory reaches an agent of the original", async () => {
  const { ao, id, elsewhere } = await oneSession(...WORKING);
  await ao.until(id, "working");
  cpSync(ao.dataDir, elsewhere, { recursive: true, verbatimSymlinks: true });
  const inCopy = { env: { AO_DATA_DIR: elsewhere } };
  const screen = async () => (await ao.run(["output", id])).stdout;
  const before = await screen();

  const commands = [
    ["send", id, "meant for the copy"],
    ["output", id],
    ["kill", id],
  ] as const;
  for (const argv of commands) {
    expect(await ao.error(argv, inCopy), argv[0]).toMatchObject({
      code: "runtime_unavailable",
      exitCode: 5,
      message: expect.stringContaining("this one is a copy"),
    });
  }
  const cancel = await ao.run(["cancel", id], inCopy);
  expect([cancel.exitCode, cancel.stderr]).toEqual([1, expect.stringContaining("this one is a copy")]);
  const attach = await ao.run(["attach", id], inCopy);
  expect([attach.exitCode, attach.stderr]).toEqual([5, expect.stringContaining("this one is a copy")]);
  expect((await ao.run(["reconcile"], inCopy)).stderr).toContain("this one is a copy");

  expect([panes(ao), await screen()]).toEqual([`${id} 0`, before]);
  const { data } = await ao.json(listSchema, ["list"]);
  expect(data).toMatchObject([{ id, status: "working" }]);
  expect(await ao.json(killSchema, ["kill", id])).toMatchObject({ workspaceFreed: true });
  expect(panes(ao)).toBe("");
}, 60_000);

test("a data directory that was moved still reaches its agents", async () => {
  const { ao, id, elsewhere } = await oneSession(...SLEEPING);
  renameSync(ao.dataDir, elsewhere);
  const moved = { env: { AO_DATA_DIR: elsewhere } };
  expect(await ao.run(["send", id, "hello"], moved)).toMatchObject({ exitCode: 0 });
  await ao.run(["kill", id, "--keep-worktree"], moved);
  expect(panes(ao)).toBe("");
}, 60_000);
