import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { type Ao, aoSandbox, git } from "../support/ao.ts";
import { listSchema, showSchema, spawnSchema } from "../support/json-schemas.ts";

/** Texts that would make this file when some shell, tmux format or git option took them for its own. */
function hostileTexts(marker: string): readonly string[] {
  return [
    `#(touch ${marker})`,
    `$(touch ${marker})`,
    `\`touch ${marker}\``,
    `;touch ${marker};`,
    `'; touch ${marker} #`,
    `"; touch ${marker}; "`,
    "../../..",
    "-rf",
    "--force",
    "#{session_name} #S %H {a,b} ~ *",
    "\u{1f600}\u{1f680}",
    "C-c Enter",
  ];
}

/** A folder with links to some programs of this machine and no others. */
function pathWith(ao: Ao, ...programs: readonly string[]): string {
  const folder = join(ao.root, `bin-${programs.join("-")}`);
  mkdirSync(folder);
  for (const name of programs) {
    const found = (process.env["PATH"] ?? "")
      .split(":")
      .map((each) => join(each, name))
      .find(existsSync);
    if (found) symlinkSync(found, join(folder, name));
  }
  return folder;
}

describe("a spawn that is refused leaves nothing behind", () => {
  const rows: readonly (readonly [string, readonly string[], number, string])[] = [
    ["a title of two lines", ["--title", "a\nb"], 2, "usage"],
    ["an empty title", ["--title", " "], 2, "usage"],
    ["an issue of two lines", ["4\n2"], 2, "usage"],
    ["a branch that leads up", ["--branch", "../.."], 2, "branch_invalid"],
    ["a branch that is a flag", ["--branch=-rf"], 2, "branch_invalid"],
    ["a branch with a space in a command", ["--branch", "$(touch x)"], 2, "branch_invalid"],
    ["a branch of two lines", ["--branch", "a\nb"], 2, "branch_invalid"],
    ["an empty branch", ["--branch", ""], 2, "branch_invalid"],
    ["a branch that is checked out", ["--branch", "main"], 4, "branch_in_use"],
    ["a base that is a flag", ["--base=--force"], 4, "branch_missing"],
    ["a base that is nowhere", ["--base", "$(touch x)"], 4, "branch_missing"],
    ["an unknown agent", ["--agent", "../../bin/sh"], 3, "agent_not_found"],
    ["an unknown project", ["-p", "../.."], 3, "project_not_found"],
    ["a program that is nowhere", ["--agent", "shell", "--", "/nowhere/agent"], 5, "agent_unavailable"],
    [
      "an agent that dies at birth",
      ["--agent", "shell", "--", "sh", "-c", "exit 7"],
      1,
      "agent_start_failed",
    ],
    ["no command for the shell", ["--agent", "shell"], 2, "usage"],
  ];
  test.each(rows)("%s", async (_title, argv, exitCode, code) => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const before = await ao.traces(cwd);
    expect(await ao.error(["spawn", ...argv], { cwd })).toMatchObject({ exitCode, code });
    expect(await ao.traces(cwd)).toEqual(before);
  });

  const LONG = "x".repeat(100_000);
  const long: readonly (readonly [readonly string[], number, string])[] = [
    [["spawn", "--title", LONG], 2, "usage"],
    [["spawn", LONG], 2, "usage"],
    [["spawn", "--branch", LONG], 2, "branch_invalid"],
    [["spawn", "--base", LONG], 4, "branch_missing"],
    [["spawn", "--agent", LONG], 3, "agent_not_found"],
    [["spawn", "--project", LONG], 3, "project_not_found"],
    [["spawn", "--config", LONG], 2, "config_invalid"],
    [["spawn", "--request-id", LONG], 2, "usage"],
    [["project", "add", LONG], 2, "usage"],
    [["show", LONG], 3, "session_not_found"],
  ];
  test("whatever is 100 kB long where a line is expected", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const before = await ao.traces(cwd);
    for (const [argv, exitCode, code] of long) {
      const what = argv.map((word) => word.slice(0, 20)).join(" ");
      expect(await ao.error(argv, { cwd }), what).toMatchObject({ exitCode, code });
    }
    expect(await ao.traces(cwd)).toEqual(before);
  });

  test("also when sessions are there already", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    await ao.spawn(cwd, ["--agent", "shell", "--branch", "feat/taken", "--", "sleep", "60"]);
    const before = await ao.traces(cwd);
    const dies = ["--agent", "shell", "--", "sh", "-c", "echo why; exit 7"];
    expect(await ao.error(["spawn", ...dies], { cwd })).toMatchObject({
      code: "agent_start_failed",
      details: { exitStatus: 7 },
    });
    expect(await ao.error(["spawn", "--branch", "feat/taken"], { cwd })).toMatchObject({
      code: "branch_in_use",
    });
    expect(await ao.traces(cwd)).toEqual(before);
  });

  test("a post-create step that fails shows its output", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    writeFileSync(join(ao.root, "ao.yaml"), "postCreate:\n  - echo no luck; exit 3\n");
    const before = await ao.traces(cwd);
    const result = await ao.run(["spawn"], { cwd });
    expect(result).toMatchObject({ exitCode: 1, stdout: "" });
    expect(result.stderr).toContain("no luck");
    expect(await ao.traces(cwd)).toEqual(before);
  });

  test("outside of a repository not even a data directory is made", async () => {
    const ao = aoSandbox();
    expect(await ao.error(["spawn"])).toMatchObject({ exitCode: 3, code: "project_not_found" });
    expect(existsSync(ao.dataDir)).toBe(false);
  });

  test("a repository without a commit is told so", async () => {
    const ao = aoSandbox();
    const cwd = join(ao.root, "empty");
    mkdirSync(cwd);
    git(cwd, "init", "-q", "-b", "main");
    expect(await ao.error(["spawn"], { cwd })).toMatchObject({ exitCode: 4, code: "repository_empty" });
    expect(git(cwd, "worktree", "list").split("\n")).toHaveLength(1);
  });
});

describe("hostile text is carried literally", () => {
  test("titles, issues and prompts arrive as they are, and nothing of them runs", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const marker = join(ao.root, "pwned");
    const texts = hostileTexts(marker);
    const spawned = await Promise.all(
      texts.map((text) => ao.json(spawnSchema, ["spawn", `--title=${text}`, `--prompt=${text}`], { cwd })),
    );
    expect(spawned.map((session) => session.title)).toEqual(texts);
    for (const { id } of spawned) await ao.until(id, "idle", "needs_input", "working");
    const { stdout } = await ao.run(["list"]);
    for (const text of texts) expect(stdout).toContain(text);
    const killed = await ao.run(["kill", ...spawned.map((session) => session.id)]);
    expect(killed).toMatchObject({ exitCode: 0, stderr: "" });
    expect(existsSync(marker)).toBe(false);
    expect(readdirSync(cwd).sort()).toEqual([".git", ".gitignore", "README.md"]);
  });

  test("an issue id of any letters makes a branch that git takes", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const marker = join(ao.root, "pwned");
    for (const issue of [`$(touch ${marker})`, "\u{1f600}\u{1f680}", "\u001b[31m\u0007", "../.."]) {
      const argv = ["spawn", issue, "--agent", "shell", "--", "sleep", "60"];
      const session = await ao.json(spawnSchema, argv, { cwd });
      expect(session.issueId).toBe(issue);
      expect(git(session.workspacePath, "branch", "--show-current")).toBe(session.branch);
    }
    expect((await ao.run(["list"])).stdout).not.toContain("\u001b");
    expect(existsSync(marker)).toBe(false);
  });

  test("a project is added by a folder's name alone: what is in none is refused", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const marker = join(ao.root, "pwned");
    for (const path of ["../..", `$(touch ${marker})`, `#(touch ${marker})`, "a\nb", "\u{1f600}", "./-rf"]) {
      expect(await ao.error(["project", "add", path], { cwd }), path).toMatchObject({
        exitCode: 2,
        code: "usage",
      });
    }
    expect([existsSync(marker), existsSync(ao.dataDir)]).toEqual([false, false]);
  });

  test("a message with NUL, without a word or of no UTF-8 is refused, and one of emoji alone arrives", async () => {
    const ao = aoSandbox();
    const id = await ao.spawn(ao.repository());
    await ao.until(id, "idle");
    for (const input of [Buffer.from("a\0b"), Buffer.from(""), Buffer.from([0x61, 0xff])]) {
      expect(await ao.error(["send", id], { input })).toMatchObject({ exitCode: 2, code: "usage" });
    }
    expect((await ao.run(["send", id, "\u{1f600}"])).exitCode).toBe(0);
  });

  test("a branch that git takes is taken, whatever a shell would make of it", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    for (const branch of ["#(touch)", "$(touch)", "`id`", "a;b", "\u{1f600}", "it's"]) {
      const argv = ["spawn", "--branch", branch, "--agent", "shell", "--", "sleep", "60"];
      const session = await ao.json(spawnSchema, argv, { cwd });
      expect(session.branch).toBe(branch);
      expect(git(session.workspacePath, "branch", "--show-current")).toBe(branch);
    }
  });

  test("a repository in a folder of any name works", async () => {
    const ao = aoSandbox();
    const marker = join(ao.root, "pwned");
    for (const name of [
      `a $(touch ${marker.replaceAll("/", "")}) #(touch b)`,
      "-rf",
      "it's",
      "\u{1f600}",
      "two\nlines",
    ]) {
      const cwd = ao.repository(name);
      const id = await ao.spawn(cwd, ["--agent", "shell", "--", "sleep", "60"]);
      expect((await ao.json(showSchema, ["show", id])).isTerminated).toBe(false);
      expect((await ao.run(["kill", id])).exitCode).toBe(0);
      expect(git(cwd, "worktree", "list", "--porcelain", "-z").split("\0\0").filter(Boolean)).toHaveLength(1);
    }
    expect(readdirSync(ao.root).filter((name) => name.includes("pwned") && !name.includes("$"))).toEqual([]);
  });

  test("a prompt of 10 MB arrives whole and is on no command line", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const prompt = `${"0123456789abcdef".repeat(640 * 1024)}\r\n\t\u{1f600} $(touch x) #(y)\u001b[201~`;
    writeFileSync(join(ao.root, "prompt"), prompt);
    const session = await ao.json(spawnSchema, ["spawn", "--prompt-file", "../prompt"], { cwd });
    await ao.until(session.id, "idle");
    const log = readFileSync(join(ao.dataDir, "embedded", `${session.agentSessionId}.jsonl`), "utf8");
    const texts = log
      .split("\n")
      .filter(Boolean)
      .flatMap((line) => Object.values(JSON.parse(line)));
    expect(texts.includes(prompt)).toBe(true);
  });

  test("a prompt with NUL, of no UTF-8 or over 16 MiB is refused", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const inputs = [Buffer.from("a\0b"), Buffer.from([0x61, 0xff, 0x62]), Buffer.alloc(17 * 1024 * 1024, 97)];
    for (const input of inputs) {
      const error = await ao.error(["spawn", "--prompt-file", "-"], { cwd, input });
      expect(error).toMatchObject({ exitCode: 2, code: "usage" });
    }
    expect(existsSync(ao.dataDir)).toBe(false);
  });
});

describe("names that are nobody's", () => {
  const rows: readonly (readonly [string, readonly string[], string])[] = [
    ["show", ["show", "../.."], "session_not_found"],
    ["show of a prefix", ["show", "shop"], "session_not_found"],
    ["kill", ["kill", "$(touch x)"], "session_not_found"],
    ["restore", ["restore", "shop-99"], "session_not_found"],
    ["send", ["send", "\u{1f600}", "hi"], "session_not_found"],
    ["output", ["output", "a\nb"], "session_not_found"],
    ["a session of another project", ["show", "other:shop-1"], "session_not_found"],
    ["list", ["list", "-p", "#(x)"], "project_not_found"],
    ["cleanup", ["cleanup", "-p", "nope"], "project_not_found"],
    ["project show", ["project", "show", "nope"], "project_not_found"],
    ["project remove", ["project", "remove", ".."], "project_not_found"],
  ];
  test("are exit 3 in every command", async () => {
    const ao = aoSandbox();
    await ao.spawn(ao.repository(), ["--agent", "shell", "--", "sleep", "60"]);
    for (const [, argv, code] of rows) {
      expect(await ao.error(argv), argv.join(" ")).toMatchObject({ exitCode: 3, code });
    }
    const dashed = await ao.run(["show", "--", "-rf"]);
    expect(dashed).toMatchObject({ exitCode: 3, stdout: "" });
    expect((await ao.run(["kill", "-rf"])).exitCode).toBe(2);
    expect((await ao.run(["show", "@"])).exitCode).toBe(2);
    expect((await ao.json(showSchema, ["show", "@"], { env: { AO_SESSION_ID: "shop-1" } })).id).toBe(
      "shop-1",
    );
    expect((await ao.json(showSchema, ["show", "shop:shop-1"])).id).toBe("shop-1");
  });

  test("make no data directory", async () => {
    const ao = aoSandbox();
    for (const [, argv] of rows) await ao.error(argv);
    expect((await ao.run(["list"])).exitCode).toBe(0);
    expect(existsSync(ao.dataDir)).toBe(false);
  });
});

describe("what is missing", () => {
  test("without tmux a spawn is exit 5 and makes nothing", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const PATH = pathWith(ao, "git", "node", "sh");
    expect(await ao.error(["spawn"], { cwd, env: { PATH } })).toMatchObject({
      exitCode: 5,
      code: "runtime_unavailable",
      hint: expect.stringContaining("tmux"),
    });
    expect(existsSync(ao.dataDir)).toBe(false);
  });

  test("without tmux live sessions are doubted, not dead, and nothing is removed", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const [live, over] = [await ao.spawn(cwd), await ao.spawn(cwd)];
    await ao.until(live, "idle");
    await ao.run(["kill", over, "--keep-worktree"]);
    const before = git(cwd, "worktree", "list");
    const env = { PATH: pathWith(ao, "git", "node", "sh") };
    const { data } = await ao.json(listSchema, ["list"], { env });
    expect(data).toMatchObject([{ id: live, status: "detecting" }]);
    expect(await ao.error(["cleanup"], { cwd, env })).toMatchObject({
      exitCode: 5,
      code: "runtime_unavailable",
    });
    expect(await ao.error(["kill", live], { env })).toMatchObject({
      exitCode: 5,
      code: "runtime_unavailable",
    });
    expect(git(cwd, "worktree", "list")).toBe(before);
  });

  test("without git it is exit 5", async () => {
    const ao = aoSandbox();
    const env = { PATH: pathWith(ao, "tmux", "node", "sh") };
    const error = await ao.error(["spawn"], { cwd: ao.repository(), env });
    expect(error).toMatchObject({ exitCode: 5, code: "git_unavailable" });
    expect(existsSync(ao.dataDir)).toBe(false);
  });

  test.each([
    ["a file in its place", "file"],
    ["a file above it", "file/data"],
    ["a place where nothing can be made", "/proc/ao-data"],
  ])("a data directory with %s is exit 5", async (_title, path) => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    writeFileSync(join(ao.root, "file"), "mine\n");
    const env = { AO_DATA_DIR: resolve(ao.root, path) };
    const expected = { exitCode: 5, code: "data_dir_unusable" };
    expect(await ao.error(["spawn"], { cwd, env })).toMatchObject(expected);
    expect(await ao.error(["project", "add"], { cwd, env })).toMatchObject(expected);
    expect((await ao.run(["doctor", "--fix"], { cwd, env })).exitCode).toBe(1);
    expect(readFileSync(join(ao.root, "file"), "utf8")).toBe("mine\n");
    expect(git(cwd, "worktree", "list").split("\n")).toHaveLength(1);
  });

  test("a store that is no database is exit 5 and stays as it is", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    mkdirSync(ao.dataDir, { mode: 0o700 });
    writeFileSync(join(ao.dataDir, "ao.db"), "not a database\n".repeat(100), { mode: 0o600 });
    for (const argv of [["spawn"], ["list"], ["cleanup"]]) {
      expect(await ao.error(argv, { cwd })).toMatchObject({ exitCode: 5, code: "store_corrupt" });
    }
    const { stdout, exitCode } = await ao.run(["doctor"], { cwd });
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^FAIL {2}store: /m);
    expect(readFileSync(join(ao.dataDir, "ao.db"), "utf8")).toBe("not a database\n".repeat(100));
  });
});

describe("a configuration with a typo", () => {
  test("in a value is exit 2 with file, line and the allowed values", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const path = join(cwd, "ao.yaml");
    writeFileSync(path, "agentConfig:\n  permissions: yolo\n");
    for (const argv of [["spawn"], ["config", "validate"], ["config", "show"]]) {
      const error = await ao.error(argv, { cwd });
      expect(error).toMatchObject({ exitCode: 2, code: "config_invalid" });
      expect(error.message).toContain(
        `${path}:2: agentConfig.permissions must be one of default, accept-edits, bypass`,
      );
    }
    expect(existsSync(ao.dataDir)).toBe(false);
  });

  test("in a key is a warning for people and silent for scripts", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    writeFileSync(join(cwd, "ao.yaml"), "agnet: shell\n");
    const plain = await ao.run(["spawn"], { cwd });
    expect(plain.exitCode).toBe(0);
    expect(plain.stderr).toContain("unknown key agnet, did you mean agent?");
    await ao.json(spawnSchema, ["spawn"], { cwd });
  });

  test("in the file's name on the command line is exit 2", async () => {
    const ao = aoSandbox();
    const error = await ao.error(["spawn", "--config", "nope.yaml"], { cwd: ao.repository() });
    expect(error).toMatchObject({ exitCode: 2, code: "config_invalid" });
  });
});
