import { existsSync, readFileSync, symlinkSync, watch, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { execa } from "execa";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type Git, gitRunner, inDirectory } from "../../../../src/adapters/worktree/run-git.ts";
import { runLong } from "../../../../src/adapters/worktree/run-long.ts";
import { GIT_ENV, gitRepository, type TestRepository } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { failure, gitWrapper, hook } from "./worktree-world.ts";

/** A file in which a script leaves the pid of what it started; that is ended with the test. */
function pidFile(): string {
  const path = join(tempDir("ao-pid"), "pid");
  onTestFinished(() => endPid(path));
  return path;
}

function pidIn(path: string): number {
  return Number(readFileSync(path, "utf8"));
}

function endPid(path: string): void {
  if (existsSync(path) && isRunning(pidIn(path))) process.kill(pidIn(path), "SIGKILL");
}

/** A dead one that nobody waited for is as good as gone. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

const git = (gitPath: string, timeoutMs = 60_000): Git => gitRunner({ env: GIT_ENV, gitPath, timeoutMs });
const version = (runner: Git) => runner.read(inDirectory("/"), ["--version"]);

describe("the time limit", () => {
  test("ends a clean filter and the sleeper that it left holding the output", async () => {
    const repository = withFilter("sleep 300 & echo $! >$PIDFILE; wait");
    const { file, repository: there } = repository;
    const runner = gitRunner({ env: { ...GIT_ENV, PIDFILE: file }, timeoutMs: 500 });
    const error = await failure(
      runner.read(inDirectory(there.path), ["status", "--porcelain"]),
      "git_unavailable",
    );
    expect(error.message).toContain("ended after 0.5 s");
    await vi.waitFor(() => expect(isRunning(pidIn(file))).toBe(false));
  });

  test("ends what does not listen to TERM", async () => {
    const file = pidFile();
    const stubborn = gitWrapper(`trap '' TERM; echo $$ >'${file}'; while :; do sleep 0.05; done`);
    await failure(version(git(stubborn, 300)), "git_unavailable");
    await vi.waitFor(() => expect(isRunning(pidIn(file))).toBe(false));
  });

  test("holds for who cannot be ended: one that left the group and keeps the output", async () => {
    const file = pidFile();
    const escaped = gitWrapper(`setsid sh -c 'echo $$ >"${file}"; exec sleep 300' & wait`);
    await failure(version(git(escaped, 500)), "git_unavailable");
    expect(isRunning(pidIn(file))).toBe(true);
  });
});

describe("an answer", () => {
  test("is not waited for longer because a child of a hook keeps the output open", async () => {
    const repository = gitRepository();
    const file = pidFile();
    hook(repository, "reference-transaction", `[ -e '${file}' ] || { sleep 300 & echo $! >'${file}'; }`);
    const runner = gitRunner({ env: GIT_ENV });
    const result = await runner.write(inDirectory(repository.path), ["update-ref", "refs/heads/x", "HEAD"]);
    expect(result.exitCode).toBe(0);
    expect(isRunning(pidIn(file))).toBe(true);
  });

  test("is whole although the program ends with more in its pipe than one read takes", async () => {
    const file = pidFile();
    const sleeper = `sleep 300 & echo $! >'${file}'`;
    const talker = gitWrapper(`${sleeper}; head -c 900000 /dev/zero | tr '\\0' x; exit 0`);
    expect((await version(git(talker))).stdout).toHaveLength(900_000);
  });

  test("comes also when what is read is more than a pipe holds", async () => {
    const echo = gitWrapper("exec cat");
    const input = "x".repeat(3_000_000);
    expect((await git(echo).read(inDirectory("/"), [], input)).stdout).toBe(input);
  });

  test("of one that does not read its input is no error", async () => {
    const deaf = gitWrapper("echo done; exit 3");
    const input = "x".repeat(3_000_000);
    expect(await git(deaf).read(inDirectory("/"), [], input)).toMatchObject({
      exitCode: 3,
      stdout: "done\n",
    });
  });

  test("that a signal cut off is none", async () => {
    const error = await failure(version(git(gitWrapper("echo half; kill -9 $$"))), "git_unavailable");
    expect(error.message).toContain("SIGKILL");
  });
});

test("a process that ends in the middle ends its git with all that this started", async () => {
  const file = pidFile();
  const gitPath = gitWrapper(`sleep 300 & echo $! >'${file}.new'; mv '${file}.new' '${file}'; wait`);
  const folder = tempDir("ao-program");
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  const outfile = join(folder, "program.mjs");
  const contents = `
    import { existsSync } from "node:fs";
    import { gitRunner, inDirectory } from "../../../../src/adapters/worktree/run-git.ts";
    const [gitPath, file] = process.argv.slice(2);
    void gitRunner({ gitPath }).read(inDirectory("/"), ["status"]);
    setInterval(() => existsSync(file) && process.exit(0), 20);
  `;
  const stdin = { contents, resolveDir: import.meta.dirname, loader: "ts" } as const;
  await build({ stdin, outfile, bundle: true, platform: "node", format: "esm", external: ["execa"] });
  await execa(process.execPath, [outfile, gitPath, file], { timeout: 30_000 });
  await vi.waitFor(() => expect(isRunning(pidIn(file))).toBe(false), { timeout: 5_000 });
});

test.each(["/nonexistent", "/dev/null"])("with TMPDIR=%s a long run still has its output", async (folder) => {
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const run = { program: "/bin/sh", args: ["-c", "echo hello"], cwd: "/", env: {}, timeoutMs: 10_000 };
  expect(await runLong(run)).toEqual({ kind: "ended", exitCode: 0, output: "hello\n" });
});

test.runIf(process.platform === "linux")(
  "the output of a long run never has a name, which a kill could leave behind",
  async () => {
    const folder = tempDir("ao-output");
    const names = new Set<string | null>();
    const watcher = watch(folder, (_event, name) => names.add(name));
    onTestFinished(() => watcher.close());
    vi.stubEnv("TMPDIR", folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const run = { program: "/bin/sh", args: ["-c", "echo hello"], cwd: "/", env: {}, timeoutMs: 10_000 };
    expect(await runLong(run)).toMatchObject({ output: "hello\n" });
    writeFileSync(join(folder, "last"), "");
    await vi.waitFor(() => expect(names).toContain("last"));
    // What has no name is told of by the number of its inode.
    expect([...names].filter((name) => !/^#\d+$/.test(`${name}`))).toEqual(["last"]);
  },
);

/** A repository in which a look at the status runs a filter. */
function withFilter(script: string): { readonly repository: TestRepository; readonly file: string } {
  const repository = gitRepository();
  repository.commit(".gitattributes", "*.txt filter=slow\n");
  repository.commit("a.txt", "one\n");
  const filter = join(tempDir("ao-filter"), "filter.sh");
  writeFileSync(filter, `${script}\n`);
  repository.git("config", "filter.slow.clean", `sh '${filter}'`);
  writeFileSync(join(repository.path, "a.txt"), "two\n");
  return { repository, file: pidFile() };
}
