import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Ao, aoSandbox } from "../support/ao.ts";
import { listSchema } from "../support/json-schemas.ts";

const DEMO_TIMEOUT_MS = 60_000;

/** Command lines of running processes that name a path. */
function processesAbout(path: string): readonly string[] {
  const { stdout } = spawnSync("ps", ["-axo", "args="], { encoding: "utf8" });
  return stdout.split("\n").filter((line) => line.includes(path));
}

function demo(ao: Ao, ...args: readonly string[]) {
  return ao.run(["demo", ...args], { cwd: ao.home, env: { TMPDIR: ao.root } });
}

const stages = (ao: Ao) => readdirSync(ao.root).filter((name) => name.startsWith("ao-demo-"));

test("the demo plays the main job and leaves nothing behind", { timeout: DEMO_TIMEOUT_MS }, async () => {
  const ao = aoSandbox();
  const { exitCode, stdout, stderr } = await demo(ao);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout).toMatch(/needs_input +Show totals/);
  expect(stdout).toContain("skipped ");
  expect(stdout).toMatch(/sessions +3 +0 live/);
  expect(stdout).toMatch(/worktrees +0 /);
  expect(stdout).toMatch(/tmux sessions +0 /);
  expect(stages(ao)).toEqual([]);
  expect(processesAbout(join(ao.root, "ao-demo-"))).toEqual([]);
});

test("demo --keep leaves live sessions to play with", { timeout: DEMO_TIMEOUT_MS }, async () => {
  const ao = aoSandbox();
  const { exitCode, stdout } = await demo(ao, "--keep");
  const [stage = ""] = stages(ao);
  const env = { AO_DATA_DIR: join(ao.root, stage, "data") };
  onTestFinished(async () => {
    const { data } = await ao.json(listSchema, ["list"], { env });
    await ao.run(["kill", "--keep-worktree", ...data.map(({ id }) => id)], { env });
  });
  expect(exitCode).toBe(0);
  expect(stdout).toContain(`export AO_DATA_DIR=${env.AO_DATA_DIR}`);
  const { data } = await ao.json(listSchema, ["list"], { env });
  expect(data.map(({ status }) => status)).toEqual(["idle", "idle"]);
});
