import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { aoSandbox, git } from "../support/ao.ts";
import {
  agentsSchema,
  batchSpawnSchema,
  cleanupSchema,
  configPathSchema,
  configShowSchema,
  configValidateSchema,
  doctorSchema,
  killSchema,
  listSchema,
  projectListSchema,
  projectSchema,
  restoreSchema,
  sendSchema,
  spawnSchema,
} from "../support/json-schemas.ts";

const SLEEP = ["--agent", "shell", "--", "sleep", "60"];

describe("with nothing there yet", () => {
  test("every reading command answers, and makes nothing", async () => {
    const ao = aoSandbox();
    expect(await ao.json(listSchema, ["list"])).toMatchObject({
      data: [],
      meta: { hiddenTerminatedCount: 0 },
    });
    expect(await ao.json(projectListSchema, ["project", "list"])).toEqual({ data: [] });
    expect(await ao.json(cleanupSchema, ["cleanup"])).toEqual({
      cleaned: [],
      skipped: [],
      errors: [],
      branchesDeleted: [],
      pool: [],
      dryRun: false,
    });
    expect(await ao.json(configPathSchema, ["config", "path"])).toEqual({ path: null });
    expect(await ao.json(configValidateSchema, ["config", "validate"])).toMatchObject({ path: null });
    const { values } = await ao.json(configShowSchema, ["config", "show"]);
    expect(values).toContainEqual({ key: "dataDir", value: ao.dataDir, origin: "AO_DATA_DIR" });
    expect(values).toContainEqual({ key: "worker.agent", value: "embedded", origin: "default" });
    const { data } = await ao.json(agentsSchema, ["agents"]);
    const ready = data.filter(({ name }) => name === "embedded" || name === "shell");
    expect(ready.map(({ name, installed }) => [name, installed])).toEqual([
      ["embedded", true],
      ["shell", true],
    ]);
    expect(data.map(({ name }) => name)).toEqual(expect.arrayContaining(["claude-code", "aider", "gemini"]));
    const { checks } = await ao.json(doctorSchema, ["doctor"]);
    expect(checks.filter(({ status }) => status !== "pass").map(({ name }) => name)).toEqual([
      "data directory",
    ]);
    expect(statSync(ao.dataDir, { throwIfNoEntry: false })).toBeUndefined();
  });
});

describe("project", () => {
  test("is added, shown, used and removed; not while a session of it lives", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const added = await ao.json(projectSchema, ["project", "add", cwd, "--id", "web", "--prefix", "w"]);
    expect(added).toMatchObject({ id: "web", name: "shop", prefix: "w", repositoryPath: cwd });
    expect(await ao.json(projectSchema, ["project", "show", "web"])).toEqual(added);
    expect(await ao.json(projectListSchema, ["project", "ls"])).toEqual({ data: [added] });
    expect(await ao.error(["project", "add", cwd])).toMatchObject({ exitCode: 4, code: "project_exists" });
    expect(await ao.error(["project", "add", ao.home])).toMatchObject({ exitCode: 2, code: "usage" });

    const id = await ao.spawn(ao.root, ["-p", "web", ...SLEEP]);
    expect(id).toBe("w-1");
    expect(await ao.error(["project", "remove", "web"])).toMatchObject({
      exitCode: 4,
      code: "project_in_use",
    });
    await ao.json(killSchema, ["kill", id]);
    expect(await ao.json(projectSchema, ["project", "rm", "web"])).toEqual(added);
    expect(await ao.json(projectListSchema, ["project", "list"])).toEqual({ data: [] });
  });
});

describe("a project that is refused", () => {
  test.each([
    ["a folder in no repository", ["/"]],
    ["a prefix that is none", [".", "--prefix", "-rf"]],
    ["an id that is none", [".", "--id", "../x"]],
  ])("for %s leaves no data directory", async (_why, argv) => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    expect(await ao.error(["project", "add", ...argv], { cwd })).toMatchObject({
      exitCode: 2,
      code: "usage",
    });
    expect(existsSync(ao.dataDir)).toBe(false);
  });
});

describe("config", () => {
  test("in the repository itself names its project and the sessions in it", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    writeFileSync(join(cwd, "ao.yaml"), "name: The Shop\nsessionPrefix: sh\n");
    const session = await ao.json(spawnSchema, ["spawn", ...SLEEP], { cwd });
    expect(session).toMatchObject({ id: "sh-1", projectId: "shop", projectName: "The Shop" });
    const shown = await ao.json(configShowSchema, ["config", "show"], { cwd });
    expect(shown.projects).toEqual([{ id: null, path: cwd, prefix: "sh" }]);
  });

  test("shows each value with its origin, and names the file", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const path = join(ao.root, "agent-orchestrator.yaml");
    writeFileSync(
      path,
      `defaults:\n  agent: shell\nport: 3000\nprojects:\n  web:\n    path: ./shop\n    sessionPrefix: w\n`,
    );
    const shown = await ao.json(configShowSchema, ["config", "show"], { cwd });
    expect(shown).toMatchObject({
      path,
      projectId: "web",
      projects: [{ id: "web", path: cwd, prefix: "w" }],
    });
    expect(shown.values).toContainEqual({ key: "worker.agent", value: "shell", origin: `${path}:2` });
    expect(await ao.json(configPathSchema, ["config", "path"], { cwd })).toEqual({ path });
    const { warnings } = await ao.json(configValidateSchema, ["config", "validate"], { cwd });
    expect(warnings).toEqual([`${path}: these keys have no effect yet: port`]);
    const id = await ao.spawn(cwd, ["--", "sleep", "60"]);
    expect(id).toBe("w-1");
  });

  test("puts files, links and commands into a new worktree", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    writeFileSync(join(cwd, ".env"), "SECRET=1\n");
    mkdirSync(join(cwd, "node_modules"));
    const text =
      "copy: [.env]\nsymlinks: [node_modules]\npostCreate: ['echo $GREETING > greeting']\nenv: { GREETING: hi }\n";
    writeFileSync(join(cwd, "ao.yaml"), text);
    const session = await ao.json(spawnSchema, ["spawn", ...SLEEP], { cwd });
    const at = (name: string) => join(session.workspacePath, name);
    expect(spawnSync("cat", [at(".env"), at("greeting")], { encoding: "utf8" }).stdout).toBe(
      "SECRET=1\nhi\n",
    );
    expect(spawnSync("readlink", [at("node_modules")], { encoding: "utf8" }).status).toBe(0);
  });

  test("of a session goes with it: a restore from anywhere uses the file of its spawn", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    writeFileSync(join(cwd, "ao.yaml"), "env: { GREETING: hi there }\n");
    const id = await ao.spawn(cwd, ["--agent", "shell", "--", "sh", "-c", "echo $GREETING; sleep 60"]);
    await ao.json(killSchema, ["kill", id, "--keep-worktree"]);
    await ao.json(restoreSchema, ["restore", id, "--fresh"], { cwd: "/" });
    await expect
      .poll(async () => (await ao.run(["output", id])).stdout, { timeout: 10_000 })
      .toBe("hi there\n");
  });

  test("schema is a JSON Schema", async () => {
    const { stdout, exitCode } = await aoSandbox().run(["config", "schema"]);
    expect(exitCode).toBe(0);
    z.object({
      $schema: z.string(),
      anyOf: z.array(z.object({ properties: z.record(z.string(), z.unknown()) })),
    }).parse(JSON.parse(stdout));
  });
});

describe("batch-spawn", () => {
  test("spawns each issue once and skips those that are worked on", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    await ao.spawn(cwd, ["INT-1", ...SLEEP]);
    const summary = await ao.json(batchSpawnSchema, ["batch-spawn", "int-1", "7", "7", ...SLEEP], { cwd });
    expect(summary).toMatchObject({
      created: [{ issueId: "7", branch: "feat/7" }],
      skipped: [
        { issueId: "int-1", reason: "live_session", sessionId: "shop-1" },
        { issueId: "7", reason: "duplicate" },
      ],
      failed: [],
    });
  });
});

describe("doctor", () => {
  test("--fix makes the data directory and closes it to others", async () => {
    const ao = aoSandbox();
    await ao.json(doctorSchema, ["doctor", "--fix"]);
    expect(statSync(ao.dataDir).mode & 0o777).toBe(0o700);
    await ao.json(projectSchema, ["project", "add", ao.repository()]);
    chmodSync(ao.dataDir, 0o755);
    chmodSync(join(ao.dataDir, "ao.db"), 0o644);
    const { checks } = await ao.json(doctorSchema, ["doctor"]);
    expect(checks.find(({ name }) => name === "permissions")).toMatchObject({
      status: "warn",
      fix: "ao doctor --fix",
    });
    const fixed = await ao.json(doctorSchema, ["doctor", "--fix"]);
    expect(fixed.checks.every(({ status }) => status === "pass")).toBe(true);
    expect(statSync(join(ao.dataDir, "ao.db")).mode & 0o777).toBe(0o600);
  });
});

describe("private files", () => {
  test("are closed to others whatever the umask", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const script = `umask 000; exec "$0" "$@"`;
    const argv = [
      "-c",
      script,
      process.execPath,
      join(import.meta.dirname, "../../dist/ao.js"),
      "spawn",
      "--prompt",
      "secret",
    ];
    expect(spawnSync("/bin/sh", argv, { cwd, env: ao.env }).status).toBe(0);
    await ao.until("shop-1", "idle");
    const found = spawnSync(
      "find",
      [ao.dataDir, "-path", "*/worktrees/*/*", "-prune", "-o", "-perm", "/077", "-print"],
      {
        encoding: "utf8",
      },
    );
    expect(found.stdout).toBe("");
  });
});

describe("the older spelling", () => {
  test("session … does the same", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const id = await ao.spawn(cwd);
    await ao.until(id, "idle");
    expect((await ao.json(listSchema, ["session", "ls"])).data).toHaveLength(1);
    await ao.json(killSchema, ["session", "kill", id]);
    await ao.json(restoreSchema, ["session", "restore", id]);
    await ao.until(id, "idle");
    expect(await ao.json(sendSchema, ["send", id, "--message", "hi"])).toMatchObject({ state: "delivered" });
    await ao.json(killSchema, ["session", "kill", id]);
    await ao.json(cleanupSchema, ["session", "cleanup", "--all-projects"]);
  });
});

describe("from anywhere", () => {
  test("list and show see all projects from any folder, and a worktree belongs to its project", async () => {
    const ao = aoSandbox();
    const [shop, blog] = [ao.repository("shop"), ao.repository("blog")];
    const ids = [await ao.spawn(shop, SLEEP), await ao.spawn(blog, SLEEP)];
    const { data } = await ao.json(listSchema, ["list"], { cwd: "/" });
    expect(data.map(({ id }) => id)).toEqual([...ids].reverse());
    expect((await ao.json(listSchema, ["list", "-p", "blog"], { cwd: "/" })).data).toHaveLength(1);
    const worktree = data.find(({ projectId }) => projectId === "shop")?.workspacePath ?? "";
    expect(await ao.spawn(worktree, SLEEP)).toBe("shop-2");
    git(shop, "worktree", "list");
  });
});
