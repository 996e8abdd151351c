import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { AO, type Ao, aoSandbox } from "../support/ao.ts";
import { errorSchema } from "../support/json-schemas.ts";

const SLEEP = ["--agent", "shell", "--", "sleep", "60"];

interface Streams {
  readonly stdin?: string;
  readonly stdout?: string;
  readonly stderr?: string;
}

/** Runs `ao` with files as its streams; what is not named is a pipe. */
function runOn(ao: Ao, cwd: string, argv: readonly string[], files: Streams) {
  const opened: number[] = [];
  const streamOf = (path: string | undefined, flags: string) => {
    if (path === undefined) return "pipe" as const;
    opened.push(openSync(path, flags));
    return opened.at(-1);
  };
  const stdio = [streamOf(files.stdin, "r"), streamOf(files.stdout, "w"), streamOf(files.stderr, "w")];
  const options = { cwd, env: ao.env, encoding: "utf8", stdio, timeout: 30_000 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [AO, ...argv], options);
  opened.forEach(closeSync);
  return { status, stdout: stdout ?? "", stderr: stderr ?? "" };
}

describe("a full standard output", () => {
  const full = { stdout: "/dev/full" };

  test("is one error, exit 1, and what was done is told", () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const { status, stderr } = runOn(ao, cwd, ["spawn", ...SLEEP], full);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^ao: the result could not be written to standard output: ENOSPC: [^\n]+\n/);
    expect(stderr).toContain("\n  SESSION=shop-1\n");
    expect(stderr).not.toContain("    at ");
    const killed = runOn(ao, cwd, ["kill", "shop-1", "--json"], full);
    expect(killed.status).toBe(1);
    expect(errorSchema.parse(JSON.parse(killed.stderr)).error).toMatchObject({
      code: "output_failed",
      details: { result: { id: "shop-1", workspaceFreed: true } },
    });
  });

  test.each(["list --json", "events", "events --follow", "spawn --help", "completion zsh"])(
    "ends ao %s with one line",
    async (line) => {
      const ao = aoSandbox();
      await ao.spawn(ao.repository(), SLEEP);
      const { status, stderr } = runOn(ao, ao.root, line.split(" "), full);
      expect(status).toBe(1);
      expect(stderr).toMatch(/^[^\n]*could not be written[^\n]*\n$/);
    },
  );
});

describe("a full standard error", () => {
  test("changes neither what is done nor what is printed, nor the exit code", () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const full = { stderr: "/dev/full" };
    const spawned = runOn(ao, cwd, ["spawn", "--verbose", ...SLEEP], full);
    expect(spawned).toMatchObject({ status: 0, stdout: expect.stringMatching(/\nSESSION=shop-1\n$/) });
    expect(runOn(ao, cwd, ["show", "nobody"], full)).toMatchObject({ status: 3, stdout: "" });
    expect(runOn(ao, cwd, ["list"], { ...full, stdout: "/dev/full" }).status).toBe(1);
  });
});

describe("a prompt that does not come", () => {
  /** Waits until a process of ours holds a file open. */
  async function holdsOpen(child: ChildProcess, path: string): Promise<void> {
    const list = () => spawnSync("ls", ["-l", `/proc/${child.pid}/fd`], { encoding: "utf8" }).stdout;
    await expect.poll(list, { timeout: 20_000 }).toContain(path);
  }

  test.each(["SIGINT", "SIGTERM"] as const)(
    "from a named pipe is no more waited for after %s",
    async (signal) => {
      const ao = aoSandbox();
      const cwd = ao.repository();
      const pipe = join(ao.root, "pipe");
      expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
      const child = spawn(process.execPath, [AO, "spawn", "--prompt-file", pipe], { cwd, env: ao.env });
      onTestFinished(() => void child.kill("SIGKILL"));
      const ended = new Promise<number | null>((done) => child.on("close", done));
      await holdsOpen(child, pipe);
      child.kill(signal);
      expect(await ended).toBe(130);
      expect(existsSync(ao.dataDir)).toBe(false);
    },
  );

  test("or never ends, is refused once it is too long", () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const argv = ["spawn", "--prompt-file", "-", "--json"];
    const endless = runOn(ao, cwd, argv, { stdin: "/dev/zero" });
    expect(endless).toMatchObject({ status: 2, stderr: expect.stringContaining("longer than 16 MiB") });
    const device = runOn(ao, cwd, ["spawn", "--prompt-file", "/dev/zero", "--json"], {});
    expect(device).toMatchObject({ status: 2, stderr: expect.stringContaining("it is a device") });
    expect(existsSync(ao.dataDir)).toBe(false);
  });
});

describe("bytes that are no UTF-8", () => {
  test("in an argument or in a variable are refused before anything is done", () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const run = (script: string) =>
      spawnSync("/bin/sh", ["-c", script, process.execPath, AO], { cwd, env: ao.env, encoding: "utf8" });
    for (const script of [
      `exec "$0" "$1" spawn --json --title "$(printf 'caf\\351')"`,
      `exec "$0" "$1" spawn --json -- "$(printf '\\377')"`,
      `AO_DATA_DIR="$(printf '${ao.root}/d\\377')" exec "$0" "$1" spawn --json`,
    ]) {
      const { status, stdout, stderr } = run(script);
      expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
      expect(errorSchema.parse(JSON.parse(stderr)).error.message).toContain("not valid UTF-8");
    }
    expect(existsSync(ao.dataDir)).toBe(false);
  });

  test("in a home folder that is asked for are refused, where AO_DATA_DIR would be another way", () => {
    const ao = aoSandbox();
    const script = `unset AO_DATA_DIR; HOME="$(printf '/nowhere\\377')" exec "$0" "$1" list --json`;
    const { status, stderr } = spawnSync("/bin/sh", ["-c", script, process.execPath, AO], {
      ...{ cwd: ao.root, env: ao.env, encoding: "utf8" },
    });
    expect(status).toBe(5);
    expect(errorSchema.parse(JSON.parse(stderr)).error).toMatchObject({
      code: "data_dir_unusable",
      message: expect.stringContaining("UTF-8"),
    });
  });

  test("are literal in a prompt that comes as U+FFFD in a file", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const { exitCode, stdout } = await ao.run(["spawn", "--prompt-file", "-", "--json"], {
      cwd,
      input: "a \ufffd",
    });
    expect(exitCode).toBe(0);
    const { agentSessionId, id } = JSON.parse(stdout);
    await ao.until(id, "idle");
    expect(readFileSync(join(ao.dataDir, "embedded", `${agentSessionId}.jsonl`), "utf8")).toContain(
      "a \ufffd",
    );
  });
});
