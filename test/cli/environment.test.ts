import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AO, type Ao, aoSandbox, git } from "../support/ao.ts";
import { listSchema, showSchema, spawnSchema } from "../support/json-schemas.ts";

const SLEEP = ["--agent", "shell", "--", "sleep", "60"];

function shell(ao: Ao, script: string, env: NodeJS.ProcessEnv = ao.env) {
  return spawnSync("/bin/sh", ["-c", script, process.execPath, AO], { env, cwd: ao.root, encoding: "utf8" });
}

describe("the caller's surroundings", () => {
  test("a bare environment as cron's is enough, without a terminal or HOME", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const bare = {
      PATH: "/usr/bin:/bin",
      AO_DATA_DIR: ao.dataDir,
      XDG_RUNTIME_DIR: ao.env["XDG_RUNTIME_DIR"],
    };
    const script = `cd '${cwd}' && "$0" "$1" spawn --agent shell -- sleep 60 && "$0" "$1" cleanup --json && "$0" "$1" list --json`;
    const result = spawnSync("/bin/sh", ["-c", script, process.execPath, AO], {
      env: bare,
      encoding: "utf8",
    });
    expect({ status: result.status, stderr: result.stderr }).toEqual({ status: 0, stderr: "" });
  });

  test("another TMUX, TMUX_TMPDIR, TMPDIR or runtime folder does not hide a session", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const id = await ao.spawn(cwd, SLEEP);
    const env = { TMUX: "/other,1,0", TMUX_TMPDIR: ao.home, TMPDIR: ao.home, XDG_RUNTIME_DIR: ao.home };
    expect((await ao.json(showSchema, ["show", id], { env })).lifecycle.runtime.state).toBe("alive");
    const second = await ao.json(spawnSchema, ["spawn", ...SLEEP], { cwd, env });
    expect(ao.tmux("list-sessions", "-F", "#{session_name}")).toBe(`${id}\n${second.id}`);
  });

  test("variables that lead git elsewhere have no say", async () => {
    const ao = aoSandbox();
    const [cwd, other] = [ao.repository("shop"), ao.repository("other")];
    const env = {
      GIT_DIR: join(other, ".git"),
      GIT_WORK_TREE: other,
      GIT_INDEX_FILE: join(other, ".git", "index"),
    };
    const session = await ao.json(spawnSchema, ["spawn", ...SLEEP], { cwd, env });
    expect(session.projectId).toBe("shop");
    expect(git(other, "worktree", "list").split("\n")).toHaveLength(1);
  });

  test("an agent that spawns another stays in its project, wherever it stands", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository("shop");
    const other = ao.repository("other");
    await ao.spawn(cwd, SLEEP);
    const session = await ao.json(spawnSchema, ["spawn", ...SLEEP], {
      cwd: other,
      env: { AO_PROJECT_ID: "shop" },
    });
    expect(session.projectId).toBe("shop");
  });

  test("secrets of the caller are on no command line", async () => {
    const ao = aoSandbox();
    const secret = `s3cret-${process.pid}`;
    await ao.spawn(ao.repository(), ["--prompt", secret], { env: { TOKEN: secret } });
    const found = spawnSync(
      "/bin/sh",
      ["-c", `grep -la '${secret.replace("3", "[3]")}' /proc/[0-9]*/cmdline 2>/dev/null`],
      {
        encoding: "utf8",
      },
    );
    expect(found.stdout).toBe("");
  });
});

describe("streams", () => {
  test("a reader that goes away is no error", async () => {
    const ao = aoSandbox();
    await ao.spawn(ao.repository(), SLEEP);
    const { stderr, stdout } = shell(ao, `("$0" "$1" list --json; echo "rc $?" >&3) 3>&1 | head -c 0; :`);
    expect(stderr).toBe("");
    expect(stdout).toBe("");
  });

  test("an interrupted wait is exit 130", async () => {
    const ao = aoSandbox();
    const id = await ao.spawn(ao.repository(), [
      "--agent",
      "shell",
      "--",
      "sh",
      "-c",
      "echo hello; sleep 60",
    ]);
    const child = spawn(process.execPath, [AO, "output", id, "--follow"], { env: ao.env, stdio: "pipe" });
    child.stdout.once("data", () => void child.kill("SIGINT"));
    expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(130);
  });

  test("an interrupted spawn finishes its step instead of leaving half of it, and is exit 130", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    writeFileSync(join(ao.root, "ao.yaml"), "postCreate: ['sleep 1']\n");
    const child = spawn(process.execPath, [AO, "spawn", "--verbose", ...SLEEP], {
      cwd,
      env: ao.env,
      stdio: "pipe",
    });
    const stderr: string[] = [];
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk.toString()));
    child.stderr.once("data", () => void child.kill("SIGINT"));
    expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(130);
    expect(stderr.join("")).toContain("finishing this step");
    expect((await ao.json(listSchema, ["list"])).data).toHaveLength(1);
  });

  test("output --follow ends by itself with an agent that ends", async () => {
    const ao = aoSandbox();
    const argv = ["--agent", "shell", "--", "sh", "-c", "sleep 1; echo the last words"];
    const id = await ao.spawn(ao.repository(), argv);
    expect(await ao.run(["output", id, "--follow"])).toEqual({
      exitCode: 0,
      stdout: "the last words\n",
      stderr: "",
    });
  });

  test("output --follow prints what comes and ends with the session", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const id = await ao.spawn(cwd, [
      "--agent",
      "shell",
      "--",
      "sh",
      "-c",
      "for i in 1 2 3; do echo line $i; sleep 0.4; done; sleep 60",
    ]);
    const child = spawn(process.execPath, [AO, "output", id, "--follow"], { env: ao.env, stdio: "pipe" });
    const printed: string[] = [];
    child.stdout.on("data", (chunk: Buffer) => printed.push(chunk.toString()));
    const ended = new Promise((resolve) => child.once("close", resolve));
    await expect.poll(() => printed.join(""), { timeout: 15_000 }).toContain("line 3");
    await ao.run(["kill", id]);
    expect(await ended).toBe(0);
    expect(printed.join("")).toBe("line 1\nline 2\nline 3\n");
  });
});

describe("completion", () => {
  test("in bash offers commands and live sessions", async () => {
    const ao = aoSandbox();
    const id = await ao.spawn(ao.repository(), SLEEP);
    const bin = join(ao.root, "ao");
    writeFileSync(bin, `#!/bin/sh\nexec '${process.execPath}' '${AO}' "$@"\n`, { mode: 0o755 });
    const env = { ...ao.env, PATH: `${ao.root}:${ao.env["PATH"]}` };
    const ask = (...words: readonly string[]) => {
      const script = [
        "source <(ao completion bash)",
        `COMP_WORDS=(ao ${words.map((word) => `'${word}'`).join(" ")})`,
        `COMP_CWORD=${words.length}`,
        "_ao",
        'printf "%s\\n" "${COMPREPLY[@]}"',
      ].join("\n");
      return spawnSync("bash", ["-c", script], { env, encoding: "utf8" }).stdout.trim().split("\n");
    };
    expect(ask("ki")).toEqual(["kill"]);
    expect(ask("kill", "")).toEqual([id]);
    expect(ask("spawn", "--per")).toEqual(["--permissions"]);
  });
});

describe("two at once", () => {
  test("cleanups of the same sessions free each of them once and report no error", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const ids = await Promise.all(Array.from({ length: 6 }, () => ao.spawn(cwd, SLEEP)));
    await ao.run(["kill", "--keep-worktree", ...ids]);
    const runs = await Promise.all([ao.run(["cleanup"], { cwd }), ao.run(["cleanup"], { cwd })]);
    expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    await ao.run(["cleanup"], { cwd });
    expect(git(cwd, "worktree", "list").split("\n")).toHaveLength(1);
    expect((await ao.json(listSchema, ["list", "-a"])).data).toHaveLength(6);
  });

  test("restores of one session start one agent", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const id = await ao.spawn(cwd);
    await ao.until(id, "idle");
    await ao.run(["kill", id, "--keep-worktree"]);
    const runs = await Promise.all(Array.from({ length: 4 }, () => ao.run(["restore", id])));
    expect(runs.filter(({ exitCode }) => exitCode === 0)).toHaveLength(1);
    await ao.until(id, "idle");
    expect(ao.tmux("list-sessions", "-F", "#{session_name}")).toBe(id);
  });
});
