import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { AO, aoSandbox, type Result } from "../support/ao.ts";
import {
  cleanupSchema,
  doctorSchema,
  errorSchema,
  listSchema,
  projectListSchema,
} from "../support/json-schemas.ts";
import { makeReadOnly } from "../support/read-only.ts";
import { limitedFiles, smallDisk } from "../support/small-disk.ts";

const SLEEP = ["--agent", "shell", "--", "sleep", "60"];

/** What every command that only shows says of a sandbox with session shop-1 at work. */
async function expectShown(run: (argv: readonly string[]) => Promise<Result>): Promise<void> {
  const ok = async (...argv: readonly string[]) => {
    const { exitCode, stdout, stderr } = await run(argv);
    expect({ argv, exitCode, stderr }).toEqual({ argv, exitCode: 0, stderr: "" });
    return stdout;
  };
  const { data } = listSchema.parse(JSON.parse(await ok("list", "--json")));
  expect(data).toMatchObject([{ id: "shop-1", status: "working" }]);
  expect(JSON.parse(await ok("show", "shop-1", "--json"))).toMatchObject({ id: "shop-1" });
  expect(await ok("output", "shop-1", "--json")).toContain("lines");
  expect(await ok("events")).toContain('"session.created"');
  expect(await ok("__complete", "--", "kill", "")).toMatch(/^shop-1\t/);
  const { data: projects } = projectListSchema.parse(JSON.parse(await ok("project", "list", "--json")));
  expect(projects).toMatchObject([{ id: "shop" }]);
  await ok("project", "show", "shop", "--json");
  await ok("agents", "--json");
  await ok("config", "show", "--json");
  expect(cleanupSchema.parse(JSON.parse(await ok("cleanup", "--dry-run", "--json"))).errors).toEqual([]);
}

/** That its checks of what is stored pass. */
async function expectSound(run: (argv: readonly string[]) => Promise<Result>): Promise<void> {
  const doctor = doctorSchema.parse(JSON.parse((await run(["doctor", "--json"])).stdout));
  for (const name of ["store", "operations", "tmux socket", "orphans"]) {
    expect(doctor.checks).toContainEqual(expect.objectContaining({ name, status: "pass" }));
  }
}

describe("what only shows", () => {
  test("works where nothing may be written, and what changes something says so", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    await ao.spawn(cwd, SLEEP);
    const { start } = makeReadOnly(ao.dataDir);
    await expectShown((argv) => ao.run(argv, { cwd, start }));
    await expectSound((argv) => ao.run(argv, { cwd, start }));
    const waited = await ao.run(["wait", "shop-1", "--for", "working"], { cwd, start });
    expect(waited).toMatchObject({ exitCode: 0, stdout: "shop-1 working\n", stderr: "" });
    expect(await ao.error(["kill", "shop-1"], { cwd, start })).toMatchObject({
      exitCode: 5,
      code: "data_dir_unusable",
    });
  });

  test("works on a full disk, and what changes something says so", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const disk = smallDisk(ao.dataDir, 4, limitedFiles);
    await ao.spawn(cwd, SLEEP);
    disk.fill();
    const { start } = disk;
    const run = (argv: readonly string[]) => ao.run(argv, { cwd, start });
    await expectShown(run);
    await expectSound(run);
    expect(await run(["wait", "shop-1", "--for", "working"])).toMatchObject({ exitCode: 0, stderr: "" });
    const { exitCode, stderr } = await run(["kill", "shop-1", "--json"]);
    expect({ exitCode, code: errorSchema.parse(JSON.parse(stderr)).error.code }).toEqual({
      exitCode: 5,
      code: "data_dir_unusable",
    });
  });

  test("leaves the database byte for byte as it is", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    await ao.spawn(cwd, SLEEP);
    const database = join(ao.dataDir, "ao.db");
    const before = readFileSync(database);
    await expectShown((argv) => ao.run(argv, { cwd }));
    expect(readFileSync(database)).toEqual(before);
  });
});

describe("who follows events where nothing may be written", () => {
  test("is shown what comes once something may be", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    await ao.spawn(cwd, SLEEP);
    const { allow, start } = makeReadOnly(ao.dataDir);
    const [command = "", ...args] = start([process.execPath, AO, "events", "--follow"]);
    const child = spawn(command, args, { env: ao.env, cwd });
    onTestFinished(() => void child.kill("SIGKILL"));
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    const WAIT = { timeout: 20_000 };
    await expect.poll(() => text, WAIT).toContain('"session.created"');
    allow();
    await ao.run(["kill", "shop-1"], { cwd });
    await expect.poll(() => text, WAIT).toContain("manually_killed");
    const lines = text.split("\n").slice(0, -1);
    const sequences = lines.map((line) => Number(JSON.parse(line).sequence));
    expect(sequences).toEqual(sequences.map((_, index) => index + 1));
  });
});

describe("a database that is damaged where no list looks", () => {
  test("fails the doctor, and ends what removes or brings back before it does anything", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    await ao.spawn(cwd, SLEEP);
    await ao.run(["kill", "shop-1", "--keep-worktree"]);
    const database = join(ao.dataDir, "ao.db");
    const bytes = readFileSync(database);
    const at = Math.floor(bytes.lastIndexOf("session.changed") / 4096);
    writeFileSync(database, bytes.fill(0x5a, at * 4096, at * 4096 + 200));
    expect((await ao.run(["list"])).exitCode).toBe(0);
    const { stdout, exitCode } = await ao.run(["doctor", "--json"]);
    expect(exitCode).toBe(1);
    expect(doctorSchema.parse(JSON.parse(stdout)).checks).toContainEqual(
      expect.objectContaining({ name: "store", status: "fail", detail: expect.stringContaining("damaged") }),
    );
    for (const argv of [["cleanup"], ["cleanup", "--dry-run"], ["reconcile"], ["restore", "shop-1"]]) {
      expect(await ao.error(argv, { cwd })).toMatchObject({ exitCode: 5, code: "store_corrupt" });
    }
    expect(readFileSync(join(ao.dataDir, "worktrees", "shop", "shop-1", "README.md"), "utf8")).toBe(
      "hello\n",
    );
  });
});
