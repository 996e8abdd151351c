import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { gitIn, gitRepository, writeIn } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { failure, filesBelow, itemsByKind, traces, worktreeWorld } from "./worktree-world.ts";

/** A repository with files that no commit has. */
function withLocalFiles() {
  const repository = gitRepository();
  repository.commit(".gitignore", ".env\nnode_modules\n");
  writeIn(repository.path, ".env", "SECRET=1\n");
  writeIn(repository.path, "node_modules/lib/index.js", "x\n");
  writeIn(repository.path, "local/run.sh", "#!/bin/sh\n");
  chmodSync(join(repository.path, ".env"), 0o600);
  chmodSync(join(repository.path, "local", "run.sh"), 0o755);
  return worktreeWorld(repository);
}

describe("symlinks and copies", () => {
  test("links lead to the main working tree, copies keep their modes", async () => {
    const { repository, workspace, spec } = withLocalFiles();
    const postCreate = { symlinks: ["node_modules/"], copy: [".env", "local"] };
    const { path, warnings } = await workspace.create(spec({ postCreate }));
    expect(warnings).toEqual([]);
    expect(readlinkSync(join(path, "node_modules"))).toBe(join(repository.path, "node_modules"));
    expect(readFileSync(join(path, ".env"), "utf8")).toBe("SECRET=1\n");
    expect(statSync(join(path, ".env")).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, "local", "run.sh")).mode & 0o777).toBe(0o755);
  });

  test("they are no work while they are as they were, and go with the worktree; their sources stay", async () => {
    const { repository, workspace, spec } = withLocalFiles();
    const postCreate = { symlinks: ["node_modules"], copy: [".env", "local"] };
    const { path } = await workspace.create(spec({ postCreate }));
    expect(await workspace.inspect(spec())).toEqual([]);
    await workspace.destroy(spec());
    expect(existsSync(path)).toBe(false);
    expect(readFileSync(join(repository.path, "node_modules/lib/index.js"), "utf8")).toBe("x\n");
  });

  test("names that are no text are copied as they are, and are work once changed", async () => {
    const { repository, workspace, spec } = withLocalFiles();
    const bytes = (root: string, path: string) => Buffer.from(`${root}/local/${path}`, "latin1");
    mkdirSync(bytes(repository.path, "in\xff"));
    for (const file of ["bad\xff", "in\xff/deep\xfe"]) writeFileSync(bytes(repository.path, file), "x\n");
    symlinkSync(Buffer.from("bad\xff", "latin1"), bytes(repository.path, "link\xff"));
    const { path, warnings } = await workspace.create(spec({ postCreate: { copy: ["local"] } }));
    expect(warnings).toEqual([]);
    for (const file of ["bad\xff", "link\xff", "in\xff/deep\xfe"]) {
      expect(readFileSync(bytes(path, file), "utf8")).toBe("x\n");
    }
    expect(await workspace.inspect(spec())).toEqual([]);
    writeFileSync(bytes(path, "in\xff/deep\xfe"), "mine\n");
    expect(JSON.stringify(await workspace.inspect(spec()))).toContain("local/in\uFFFD/deep\uFFFD");
    await failure(workspace.destroy(spec()), "workspace_dirty");
  });

  test("once changed they are work", async () => {
    const { workspace, spec } = withLocalFiles();
    const postCreate = { symlinks: ["node_modules"], copy: [".env", "local"] };
    const { path } = await workspace.create(spec({ postCreate }));
    writeIn(path, ".env", "SECRET=2\n");
    writeIn(path, "local/run.sh", "#!/bin/sh\necho mine\n");
    writeIn(path, "local/new.sh", "#!/bin/sh\n");
    rmSync(join(path, "node_modules"));
    symlinkSync("/elsewhere", join(path, "node_modules"));
    expect(itemsByKind(await workspace.inspect(spec()))).toEqual({
      untracked: ["local/new.sh", "local/run.sh"],
      ignored: [".env", "node_modules"],
    });
  });

  test("what is not there is a warning", async () => {
    const { workspace, spec } = withLocalFiles();
    const postCreate = { symlinks: ["missing"], copy: ["absent", ".env"] };
    const { path, warnings } = await workspace.create(spec({ postCreate }));
    expect(warnings).toHaveLength(2);
    expect(warnings.join("\n")).toMatch(/missing is not in .+\nabsent is not in/);
    expect(existsSync(join(path, ".env"))).toBe(true);
  });

  test("what the checkout brought already is left, with a warning", async () => {
    const { workspace, spec } = withLocalFiles();
    const { path, warnings } = await workspace.create(spec({ postCreate: { copy: ["readme.md"] } }));
    expect(warnings).toEqual([expect.stringContaining("readme.md is in the workspace already")]);
    expect(gitIn(path, "status", "--porcelain")).toBe("");
  });

  test.each(["../secret", "/etc/passwd", "a/../../b", "..", ".git", ".git/config", "", ".", "a\0b"])(
    "%j as a path is a configuration error, before anything is made",
    async (path) => {
      const world = withLocalFiles();
      const before = traces(world);
      for (const postCreate of [{ symlinks: [path] }, { copy: [path] }]) {
        await failure(world.workspace.create(world.spec({ postCreate })), "config_invalid");
      }
      expect(traces(world)).toEqual(before);
    },
  );

  test("a copy does not follow a link out of the repository", async () => {
    const world = withLocalFiles();
    const outside = tempDir("ao-outside");
    writeIn(outside, "secret", "x");
    symlinkSync(outside, join(world.repository.path, "escape"));
    mkdirSync(join(world.repository.path, "deep"));
    symlinkSync(join(outside, "secret"), join(world.repository.path, "deep", "link"));
    const before = traces(world);
    for (const path of ["escape", "escape/secret", "deep"]) {
      const postCreate = { copy: [path] };
      await failure(world.workspace.create(world.spec({ postCreate })), "workspace_unsafe_path");
      expect(traces(world)).toEqual(before);
    }
  });

  test("nothing is put through a tracked link that leads out of the worktree", async () => {
    const repository = gitRepository();
    const outside = tempDir("ao-outside");
    symlinkSync(outside, join(repository.path, "conf"));
    repository.git("add", "conf");
    repository.git("commit", "-qm", "link");
    rmSync(join(repository.path, "conf"));
    writeIn(repository.path, "conf/local.txt", "x");
    const world = worktreeWorld(repository);
    for (const postCreate of [{ symlinks: ["conf/local.txt"] }, { copy: ["conf/local.txt"] }]) {
      await failure(world.workspace.create(world.spec({ postCreate })), "workspace_unsafe_path");
      expect(filesBelow(outside)).toEqual([]);
    }
  });

  test("links inside a copied folder stay links, special files are left out with a warning", async () => {
    const { repository, workspace, spec } = withLocalFiles();
    symlinkSync("run.sh", join(repository.path, "local", "alias"));
    const fifo = join(repository.path, "local", "pipe");
    gitIn(repository.path, "-c", `alias.fifo=!mkfifo '${fifo}'`, "fifo");
    const { path, warnings } = await workspace.create(spec({ postCreate: { copy: ["local"] } }));
    expect(lstatSync(join(path, "local", "alias")).isSymbolicLink()).toBe(true);
    expect(warnings).toEqual([expect.stringContaining("local/pipe is neither file, folder nor link")]);
  });
});

describe("commands", () => {
  test("they run in the worktree, in order, with the given environment alone", async () => {
    const { workspace, spec } = worktreeWorld();
    const env = { PATH: process.env["PATH"] ?? "", GREETING: "hello" };
    const commands = ['echo "$GREETING $HOME" >out', "pwd >>out"];
    const { path } = await workspace.create(spec({ env, postCreate: { commands } }));
    expect(readFileSync(join(path, "out"), "utf8")).toBe(`hello \n${path}\n`);
  });

  test("what they make or change is no work until it is changed again", async () => {
    const { workspace, spec } = worktreeWorld();
    const commands = ["echo x >made.txt; echo y >>readme.md; ln -s made.txt alias"];
    const { path } = await workspace.create(spec({ postCreate: { commands } }));
    expect(await workspace.inspect(spec())).toEqual([]);
    writeIn(path, "made.txt", "mine\n");
    writeIn(path, "readme.md", "mine\n");
    expect(itemsByKind(await workspace.inspect(spec()))).toEqual({
      changed: ["readme.md"],
      untracked: ["made.txt"],
    });
  });

  test("one that fails shows its output and undoes everything", async () => {
    const world = worktreeWorld();
    const before = traces(world);
    const commands = ["touch made.txt", "seq 1 300; echo oh no >&2; exit 7", "touch never"];
    const error = await failure(
      world.workspace.create(world.spec({ postCreate: { commands } })),
      "post_create_failed",
    );
    expect(error.message).toContain("failed with 7");
    expect(error.details).toMatchObject({ command: commands[1], exitCode: 7 });
    const output = String(error.details["output"]).split("\n");
    expect(output).toHaveLength(200);
    expect(output.slice(-2)).toEqual(["300", "oh no"]);
    expect(traces(world)).toEqual(before);
  });

  test("one that takes too long is ended with all it started, and everything is undone", async () => {
    const world = worktreeWorld();
    const pidFile = join(tempDir("ao-pid"), "pid");
    const before = traces(world);
    const commands = [`sleep 300 & echo $! >'${pidFile}'; echo waiting; wait`];
    const error = await failure(
      world.workspace.create(world.spec({ postCreate: { commands, timeoutMs: 500 } })),
      "post_create_failed",
    );
    expect(error.message).toContain("was ended after 0.5 s");
    expect(error.details["output"]).toBe("waiting");
    expect(traces(world)).toEqual(before);
    const pid = Number(readFileSync(pidFile, "utf8"));
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false));
  });

  test("what a failed one left in the background is ended", async () => {
    const { workspace, spec } = worktreeWorld();
    const pidFile = join(tempDir("ao-pid"), "pid");
    const commands = [`sleep 300 & echo $! >'${pidFile}'; exit 1`];
    await failure(workspace.create(spec({ postCreate: { commands } })), "post_create_failed");
    const pid = Number(readFileSync(pidFile, "utf8"));
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false));
  });

  test("one that ignores TERM is ended all the same", async () => {
    const world = worktreeWorld();
    const commands = ["trap '' TERM; while :; do sleep 1; done"];
    const create = world.workspace.create(world.spec({ postCreate: { commands, timeoutMs: 200 } }));
    await failure(create, "post_create_failed");
    expect(existsSync(world.spec().path)).toBe(false);
  });

  test("one that leaves a process in the background keeps nobody waiting", async () => {
    const { workspace, spec } = worktreeWorld();
    const commands = ["sleep 300 & echo $! >pid"];
    const { path } = await workspace.create(spec({ postCreate: { commands, timeoutMs: 20_000 } }));
    const pid = Number(readFileSync(join(path, "pid"), "utf8"));
    expect(isRunning(pid)).toBe(true);
    process.kill(pid, "SIGKILL");
  });

  test("they run again when a freed worktree is made anew, not when it stands", async () => {
    const { workspace, spec } = worktreeWorld();
    const log = join(tempDir("ao-log"), "log");
    const postCreate = { commands: [`echo run >>'${log}'`] };
    await workspace.create(spec({ postCreate }));
    await workspace.restore(spec({ postCreate }));
    expect(readFileSync(log, "utf8")).toBe("run\n");
    await workspace.destroy(spec());
    await workspace.restore(spec({ postCreate }));
    expect(readFileSync(log, "utf8")).toBe("run\nrun\n");
  });
});

describe("undoing a failed create", () => {
  const failing = { commands: ["exit 1"] };

  test("a branch that was there before stays as it was", async () => {
    const world = worktreeWorld();
    world.repository.git("branch", "feat/1");
    const before = traces(world);
    await failure(world.workspace.create(world.spec({ postCreate: failing })), "post_create_failed");
    expect(traces(world)).toEqual(before);
  });

  test("a new branch that got a commit stays", async () => {
    const { repository, workspace, spec } = worktreeWorld();
    const commands = ["git commit -qm work --allow-empty", "exit 1"];
    await failure(workspace.create(spec({ postCreate: { commands } })), "post_create_failed");
    expect(repository.branches()).toContain("feat/1");
    expect(repository.worktrees()).toEqual([repository.path]);
  });

  test("files and folders without write permission are removed as well", async () => {
    const world = worktreeWorld();
    const before = traces(world);
    const commands = ["mkdir -p cache/mod; touch cache/mod/a; chmod 500 cache/mod cache; exit 1"];
    await failure(world.workspace.create(world.spec({ postCreate: { commands } })), "post_create_failed");
    expect(traces(world)).toEqual(before);
  });

  test("the targets of links stay", async () => {
    const world = worktreeWorld();
    const outside = tempDir("ao-outside");
    writeIn(outside, "kept.txt", "x");
    const commands = [`ln -s '${outside}' link; exit 1`];
    await failure(world.workspace.create(world.spec({ postCreate: { commands } })), "post_create_failed");
    expect(existsSync(join(outside, "kept.txt"))).toBe(true);
  });

  test("what could not be undone is told beside the first error", async () => {
    const world = worktreeWorld();
    const commands = ["git worktree lock .; exit 1"];
    const create = world.workspace.create(world.spec({ postCreate: { commands } }));
    const error = await failure(create, "post_create_failed");
    expect(error.details["left"]).toEqual([
      { what: "worktree", where: world.spec().path, why: expect.stringContaining("locked") },
    ]);
    expect(error.details["output"]).toBe("");
    expect(world.repository.branches()).toContain("feat/1");
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

/** /dev/shm is a file system of its own on Linux. */
test.runIf(process.platform === "linux")("a trash on another file system is no trouble", async () => {
  const trashDir = tempDir("ao-trash");
  const home = mkdtempSync("/dev/shm/ao-test-");
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const managedRoot = join(home, "worktrees");
  const { repository, workspace, spec } = worktreeWorld(gitRepository(), { trashDir, managedRoot });
  await workspace.create(spec());
  await workspace.destroy(spec());
  expect(repository.worktrees()).toEqual([repository.path]);
  expect((await workspace.sweepTrash()).deleted).toBe(1);
  expect(filesBelow(managedRoot).filter((path) => path !== ".trash")).toEqual([]);
});
