import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { AO, type Ao, aoSandbox } from "../support/ao.ts";
import { listSchema } from "../support/json-schemas.ts";
import { aTerminal } from "../support/terminal.ts";

const DEMO_TIMEOUT_MS = 120_000;

/** Command lines of running processes that name a path. */
function processesAbout(path: string): readonly string[] {
  const { stdout } = spawnSync("ps", ["-axo", "args="], { encoding: "utf8" });
  return stdout.split("\n").filter((line) => line.includes(path));
}

const stages = (ao: Ao) => readdirSync(ao.root).filter((name) => name.startsWith("ao-demo-"));

/** The commands that were shown, each with its exit code when that was not 0. */
function commandsIn(stdout: string): readonly string[] {
  return stdout.split("\n").flatMap((line) => {
    const found = /^\$ ao (\S+)|^\((exit code \d+)\)$/.exec(line);
    return found?.[1] ?? found?.[2] ?? [];
  });
}

test("the demo plays the main job and leaves nothing behind", { timeout: DEMO_TIMEOUT_MS }, async () => {
  const ao = aoSandbox();
  const { exitCode, stdout, stderr } = await ao.run(["demo"], { cwd: ao.home, env: { TMPDIR: ao.root } });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(commandsIn(stdout)).toEqual([
    ...["spawn", "spawn", "spawn", "list", "send", "kill", "restore"],
    ...["kill", "exit code 4", "kill", "cleanup", "restore", "send", "kill", "list"],
  ]);
  expect(stdout).toMatch(/needs_input +Show totals/);
  expect(stdout).toMatch(/skipped .*draft\.md/);
  const table = stdout.slice(stdout.indexOf("What exists now:")).split("\n").slice(1, 5);
  expect(table.map((line) => line.trim().split(/ {2,}/))).toEqual([
    ["sessions", "3", "0 live"],
    ["branches", "3", "kept, with every commit"],
    ["worktrees", "0", "of live sessions, or with work in them"],
    ["tmux sessions", "0", "one for each live session"],
  ]);
  expect(stdout).not.toContain("\u001b");
  expect(stages(ao)).toEqual([]);
  expect(processesAbout(join(ao.root, "ao-demo-"))).toEqual([]);
});

test("demo --keep in a terminal redraws its sessions in place, and leaves live ones to play with", {
  timeout: DEMO_TIMEOUT_MS,
}, async () => {
  const ao = aoSandbox();
  const terminal = aTerminal(ao);
  const record = terminal.record();
  terminal.type(`TMPDIR='${ao.root}' '${process.execPath}' '${AO}' demo --keep; echo "demo ended: $?"`);
  const written = () => readFileSync(record, "utf8");
  await expect.poll(written, { timeout: 100_000, interval: 200 }).toMatch(/demo ended: \d/);
  const [stage = ""] = stages(ao);
  const env = { AO_DATA_DIR: join(ao.root, stage, "data") };
  onTestFinished(async () => {
    const { data } = await ao.json(listSchema, ["list"], { env });
    await ao.run(["kill", "--keep-worktree", ...data.map(({ id }) => id)], { env });
  });
  expect(written()).toContain("demo ended: 0");
  const drawings = written().split("\u001b[3A\u001b[J").slice(1);
  const drawn = drawings.map((text) => text.split("\r\n").slice(0, 3));
  expect(drawn.length).toBeGreaterThan(1);
  for (const lines of drawn) {
    expect(lines).toEqual(["shop-1", "shop-2", "shop-3"].map((id) => expect.stringContaining(`  ${id} `)));
  }
  expect(drawn.flat().join("\n")).toMatch(/ needs_input +Show totals/);
  expect(written()).toContain(`export AO_DATA_DIR=${env.AO_DATA_DIR}`);
  const { data } = await ao.json(listSchema, ["list"], { env });
  expect(data.map(({ status }) => status)).toEqual(["idle", "idle"]);
});
