import { describe, expect, test } from "vitest";
import { AoError, EXIT_CODES } from "../../../src/domain/errors.ts";
import { memoryCli } from "../../support/memory-cli.ts";
import { aWorld } from "../../support/world.ts";

const cli = (argv: readonly string[], options = {}) => memoryCli(aWorld(), argv, options);

describe("usage errors", () => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ["an unknown command", ["spwan"]],
    ["an unknown flag", ["list", "--jsno"]],
    ["a missing argument", ["show"]],
    ["an argument too many", ["spawn", "42", "43"]],
    ["a value that is none of the choices", ["spawn", "--permissions", "yolo"]],
    ["a flag without its value", ["spawn", "--prompt"]],
    ["two flags that exclude each other", ["cleanup", "-p", "app", "--all-projects"]],
    ["no duration", ["cleanup", "--older-than", "soon"]],
    ["no count", ["output", "app-1", "-n", "0"]],
    ["a terminal wanted without one", ["spawn", "--attach"]],
    ["attach and JSON at once", ["spawn", "--attach", "--json"]],
    ["a message given twice", ["send", "app-1", "hi", "--message", "ho"]],
    ["a prompt given twice", ["spawn", "--prompt", "a", "--prompt-file", "-"]],
    ["a prompt file that is not there", ["spawn", "--prompt-file", "/nowhere/prompt"]],
    ["no sequence number", ["events", "--after", "-1"]],
    ["an empty request id", ["kill", "app-1", "--request-id", ""]],
    ["a time limit for no wait", ["restore", "app-1", "--timeout", "5s"]],
    ["a title with a line break", ["spawn", "--title", "a\nb"]],
    ["a title with NUL", ["spawn", "--title", "a\0b"]],
    ["a subcommand that is none", ["project", "frobnicate"]],
  ];

  test.each(rows)("%s is exit 2, attempted nothing, stdout empty", async (_title, argv) => {
    const world = aWorld();
    const result = await memoryCli(world, argv);
    expect(result).toMatchObject({ exitCode: 2, stdout: "" });
    expect(result.stderr).toMatch(/^(ao: |\{"error":)/);
    expect(world.log).toEqual([]);
  });

  test("a flag that was nearly right is suggested", async () => {
    const { stderr } = await cli(["list", "--jsno"]);
    expect(stderr).toContain("hint: did you mean --json?");
  });

  test("a command that was nearly right is suggested", async () => {
    const { stderr } = await cli(["spwan"]);
    expect(stderr).toContain("hint: did you mean spawn?");
  });

  test("with --json it is one line of JSON", async () => {
    const { stderr, stdout } = await cli(["list", "--json", "--frob"]);
    expect(stdout).toBe("");
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "usage", details: {} } });
  });
});

describe("errors", () => {
  test("a person gets what failed and what to do", async () => {
    const result = await cli(["show", "app-9"]);
    expect(result).toEqual({ exitCode: 3, stdout: "", stderr: 'ao: no session "app-9"\nhint: ao list\n' });
  });

  test("a script gets code, message, hint and details on one line", async () => {
    const { exitCode, stderr } = await cli(["show", "app-9", "--json"]);
    expect(exitCode).toBe(3);
    expect(JSON.parse(stderr)).toEqual({
      error: { code: "session_not_found", message: 'no session "app-9"', hint: "ao list", details: {} },
    });
  });

  test("control characters of names do not reach the terminal", async () => {
    const { stderr } = await cli(["show", "a\u001b[2Jb"]);
    expect(stderr).not.toContain("\u001b");
  });

  test("an unforeseen failure is internal; its stack needs AO_DEBUG", async () => {
    const world = aWorld();
    world.failNext("store.insert", new TypeError("boom"));
    const plain = await memoryCli(world, ["spawn", "42"]);
    expect(plain).toMatchObject({ exitCode: 1, stdout: "" });
    expect(plain.stderr).toContain("unexpected failure: boom");
    expect(plain.stderr).not.toContain("    at ");
    world.failNext("store.insert", new TypeError("boom"));
    const debug = await memoryCli(world, ["spawn", "42"], { env: { AO_DEBUG: "1" } });
    expect(debug.stderr).toContain("TypeError: boom\n    at ");
  });

  const codes = Object.entries(EXIT_CODES) as [keyof typeof EXIT_CODES, number][];
  test.each(codes)("%s is exit %i", async (code, exitCode) => {
    const world = aWorld();
    world.workspace.failNext("create", new AoError(code, "x"));
    expect((await memoryCli(world, ["spawn", "42"])).exitCode).toBe(exitCode);
  });
});

describe("a signal while a command holds it back", () => {
  const interrupted = { interrupted: true };

  test("does not hide what failed, what is left and what to do", async () => {
    const world = aWorld();
    const options = { hint: "remove it", details: { left: [{ what: "worktree", where: "/w" }] } };
    world.failNext("store.insert", new AoError("store_busy", "the store is busy", options));
    const { exitCode, stderr } = await memoryCli(world, ["spawn", "--json"], interrupted);
    expect(exitCode).toBe(130);
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: "interrupted",
        message:
          "interrupted: no session was made: the agent was started, and a step after that failed: the store is busy",
        hint: "remove it",
        details: { left: [{ what: "worktree", where: "/w" }], code: "agent_start_failed" },
      },
    });
  });

  test("is exit 130 for a spawn that finished, its result printed", async () => {
    const { exitCode, stdout } = await cli(["spawn"], interrupted);
    expect({ exitCode, stdout }).toEqual({
      exitCode: 130,
      stdout: expect.stringContaining("\nSESSION=app-1\n"),
    });
  });

  test("stops a batch before the next issue", async () => {
    const { exitCode, stdout } = await cli(["batch-spawn", "1", "2", "--json"], interrupted);
    expect(exitCode).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({
      created: [],
      failed: [{ error: { code: "interrupted" } }, { error: { code: "interrupted" } }],
    });
  });

  test("stops a kill of several before the next one", async () => {
    const world = aWorld();
    const first = await world.spawn();
    const second = await world.spawn({ issueId: "43" });
    const argv = ["kill", first.id, second.id, "--json"];
    const { exitCode, stderr } = await memoryCli(world, argv, interrupted);
    expect(exitCode).toBe(130);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: "interrupted", details: { results: [] } },
    });
    expect(world.row(first.id).terminatedAtMs).toBeNull();
  });

  test("stops a cleanup before the next session", async () => {
    const world = aWorld();
    const { id } = await world.spawn();
    await memoryCli(world, ["kill", id, "--keep-worktree"]);
    const { exitCode, stdout } = await memoryCli(world, ["cleanup", "--json"], interrupted);
    expect(exitCode).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ cleaned: [], skipped: [], errors: [] });
    expect(world.row(id).metadata.workspaceFreedAtMs).toBeNull();
  });
});

describe("help", () => {
  const commands = [
    "spawn",
    "batch-spawn",
    "list",
    "show",
    "send",
    "kill",
    "restore",
    "cleanup",
    "attach",
    "output",
    "reconcile",
    "events",
    "agents",
    "doctor",
    "completion",
    "issue",
    "issue close",
    "project add",
    "project list",
    "project show",
    "project remove",
    "config show",
    "config path",
    "config validate",
    "config schema",
    "session ls",
    "session kill",
  ];
  test.each(commands)("%s has its purpose, flags and two examples", async (name) => {
    const { exitCode, stdout, stderr } = await cli([...name.split(" "), "--help"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^Usage: ao /);
    expect(stdout).toContain("--no-color");
    expect(stdout.split("Examples:\n")[1]?.match(/^ {2}\S/gm)).toHaveLength(2);
  });

  test("without a command all of them are listed on stdout", async () => {
    const { exitCode, stdout } = await cli([]);
    expect(exitCode).toBe(0);
    for (const name of ["spawn", "cleanup", "session", "doctor"]) expect(stdout).toContain(`\n  ${name}`);
    expect(stdout).not.toContain("__complete");
  });

  test("every flag with a value that has a default shows it", async () => {
    expect((await cli(["output", "--help"])).stdout).toContain('(default: "200")');
    expect((await cli(["spawn", "--help"])).stdout).toContain("(default: configured, else embedded");
  });
});

describe("colour", () => {
  const rows = [
    ["a terminal", { terminal: true, env: { TERM: "xterm" } }, [], true],
    ["a pipe", {}, [], false],
    ["a dumb terminal", { terminal: true, env: { TERM: "dumb" } }, [], false],
    ["a terminal with NO_COLOR", { terminal: true, env: { TERM: "xterm", NO_COLOR: "1" } }, [], false],
    ["a pipe with FORCE_COLOR", { env: { FORCE_COLOR: "1" } }, [], true],
    ["a terminal with --no-color", { terminal: true, env: { FORCE_COLOR: "1" } }, ["--no-color"], false],
  ] as const;
  test.each(rows)("%s", async (_title, options, flags, colored) => {
    const { stderr } = await cli(["show", "app-9", ...flags], options);
    expect(stderr.includes("\u001b[31m")).toBe(colored);
  });
});
