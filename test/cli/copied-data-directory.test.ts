import { cpSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Ao, aoSandbox } from "../support/ao.ts";
import { killSchema } from "../support/json-schemas.ts";

const panes = ({ tmux }: Ao) => tmux("list-panes", "-a", "-F", "#{@ao_session_id} #{pane_dead}");

async function oneSession() {
  const ao = aoSandbox();
  const id = await ao.spawn(ao.repository(), ["--agent", "shell", "--", "sleep", "300"]);
  return { ao, id, elsewhere: join(ao.root, "elsewhere") };
}

test("a kill in a copy of the data directory ends no agent of the original", async () => {
  const { ao, id, elsewhere } = await oneSession();
  cpSync(ao.dataDir, elsewhere, { recursive: true, verbatimSymlinks: true });
  const { message } = await ao.error(["kill", id], { env: { AO_DATA_DIR: elsewhere } });
  expect(message).toContain("this one is a copy");
  expect(panes(ao)).toBe(`${id} 0`);
  expect(await ao.json(killSchema, ["kill", id])).toMatchObject({ workspaceFreed: true });
  expect(panes(ao)).toBe("");
}, 60_000);

test("a kill in a data directory that was moved ends its agent", async () => {
  const { ao, id, elsewhere } = await oneSession();
  renameSync(ao.dataDir, elsewhere);
  await ao.run(["kill", id, "--keep-worktree"], { env: { AO_DATA_DIR: elsewhere } });
  expect(panes(ao)).toBe("");
}, 60_000);
