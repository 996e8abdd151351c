import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemProcessTable } from "../../../../src/adapters/processes/system-process-table.ts";
import type { SessionId } from "../../../../src/domain/ids.ts";
import type { WorkspacePlan } from "../../../../src/ports/workspace.ts";
import { gitIn, gitRepository, writeIn } from "../../../support/git-repository.ts";
import { isRunning } from "../../../support/tmux-server.ts";
import {
  anOperationId,
  failure,
  gitDirOf,
  gitWrapper,
  traces,
  type WorktreeWorld,
  worktreeWorld,
} from "./worktree-world.ts";

const OPERATION = anOperationId();
const OTHER = anOperationId();

/** A world, a plan of `app-1` in it, and what there was before. */
async function planned(world: WorktreeWorld = worktreeWorld()) {
  const spec = world.spec({ operationId: OPERATION });
  const before = traces(world);
  const plan = await world.workspace.plan(spec);
  return { ...world, world, wanted: spec, plan, before };
}

type Planned = Awaited<ReturnType<typeof planned>>;

/** What a killed `git worktree add` left: whole but for its mark, then cut down by `cut`. */
async function brokenOff(cut: (path: string, gitDir: string) => void = () => undefined): Promise<Planned> {
  const all = await planned();
  const { path } = await all.workspace.create(all.wanted, all.plan);
  const gitDir = gitDirOf(path);
  rmSync(join(gitDir, "ao.json"));
  writeFileSync(join(gitDir, "locked"), `ao operation ${OPERATION}`);
  cut(path, gitDir);
  return all;
}

test("a record of our name that cannot be read is not taken for one that was never written", async () => {
  const { workspace, wanted, plan, repository } = await planned();
  const record = join(repository.path, ".git", "worktrees", "app-1");
  mkdirSync(join(record, "gitdir"), { recursive: true });
  const error = await failure(workspace.discard(wanted, plan), "git_unavailable");
  expect(error.message).toContain(record);
  expect(existsSync(join(record, "gitdir"))).toBe(true);
});

describe("a making that was broken off is taken back whole", () => {
  test("before anything was made", async () => {
    const { workspace, wanted, plan, world, before } = await planned();
    await workspace.discard(wanted, plan);
    expect(traces(world)).toEqual(before);
  });

  test("after everything was made, and a second time", async () => {
    const { workspace, wanted, plan, world, before } = await planned();
    await workspace.create(wanted, plan);
    await workspace.discard(wanted, plan);
    await workspace.discard(wanted, plan);
    expect(traces(world)).toEqual(before);
  });

  test("with only the branch made, or the branch and an empty folder", async () => {
    const { workspace, wanted, plan, world, before } = await brokenOff((path, gitDir) => {
      rmSync(gitDir, { recursive: true });
      rmSync(path, { recursive: true });
    });
    await workspace.discard(wanted, plan);
    expect(traces(world)).toEqual(before);
    await workspace.create(wanted, plan);
    rmSync(gitDirOf(wanted.path), { recursive: true });
    rmSync(wanted.path, { recursive: true });
    mkdirSync(wanted.path);
    await workspace.discard(wanted, plan);
    expect(traces(world)).toEqual(before);
  });

  const files = ["HEAD", "commondir", "gitdir", "ORIG_HEAD", "index", "logs"];
  const keepOnly = (...kept: readonly string[]) => {
    return (path: string, gitDir: string) => {
      for (const name of files.filter((file) => !kept.includes(file))) {
        rmSync(join(gitDir, name), { recursive: true, force: true });
      }
      for (const name of ["readme.md", ...(kept.includes(".git") ? [] : [".git"])]) rmSync(join(path, name));
    };
  };
  test.each<[string, (path: string, gitDir: string) => void]>([
    ["all but its mark", () => undefined],
    ["a record and no file yet", keepOnly("HEAD", "commondir", "gitdir", ".git")],
    ["a record without HEAD", keepOnly("commondir", "gitdir", ".git")],
    ["a record without the common folder", keepOnly("HEAD", "gitdir", ".git")],
    ["a record before the folder knows it", keepOnly("gitdir")],
    ["a record that knows no folder", keepOnly()],
    ["a record with an empty common folder", (_path, gitDir) => writeFileSync(join(gitDir, "commondir"), "")],
    [
      "a record whose folder's name is just being written",
      (path, gitDir) => {
        keepOnly()(path, gitDir);
        writeFileSync(join(gitDir, "gitdir"), "");
      },
    ],
    [
      "a record whose reason is just being written",
      (path, gitDir) => {
        keepOnly()(path, gitDir);
        writeFileSync(join(gitDir, "locked"), "");
      },
    ],
    [
      "an empty record",
      (path, gitDir) => {
        keepOnly()(path, gitDir);
        rmSync(join(gitDir, "locked"));
      },
    ],
    ["a folder whose record git took back already", (_path, gitDir) => rmSync(gitDir, { recursive: true })],
    [
      "what an older git locks without a reason",
      (_path, gitDir) => writeFileSync(join(gitDir, "locked"), "added with --lock"),
    ],
    ["what git itself locks", (_path, gitDir) => writeFileSync(join(gitDir, "locked"), "initializing")],
    ["a lock of the index", (_path, gitDir) => writeFileSync(join(gitDir, "index.lock"), "")],
    ["a file that git was writing", (path) => writeIn(path, "readme.md", "hel")],
  ])("with %s", async (_what, cut) => {
    const { workspace, wanted, plan, world, before } = await brokenOff(cut);
    await workspace.discard(wanted, plan);
    expect(traces(world)).toEqual(before);
    expect(existsSync(join(world.repository.path, ".git", "worktrees"))).toBe(false);
    await workspace.create(wanted, await workspace.plan(wanted));
  });

  test("while the worktrees of neighbours stand as they are", async () => {
    const all = await brokenOff();
    const { workspace, spec, wanted, plan, repository } = all;
    const neighbour = spec({ sessionId: "app-2" as SessionId, branch: "feat/2", operationId: OTHER });
    const { path } = await workspace.create(neighbour);
    await workspace.discard(wanted, plan);
    expect(repository.worktrees()).toEqual([repository.path, path]);
    expect(gitIn(path, "status", "--porcelain")).toBe("");
  });

  test("after a restore, and its branch stays", async () => {
    const all = await planned();
    const { workspace, wanted, plan, world } = all;
    await workspace.create(wanted, plan);
    await workspace.destroy(wanted);
    const before = traces(world);
    const again = { ...wanted, operationId: OTHER };
    const restorePlan = await workspace.planRestore(again);
    await workspace.restore(again);
    await workspace.discard(again, restorePlan as WorkspacePlan);
    expect(traces(world)).toEqual(before);
    expect(world.repository.branches()).toContain("feat/1");
  });
});

describe("what somebody put into a worktree that is only half made keeps it", () => {
  test.each<[string, (path: string, gitDir: string) => void, string]>([
    ["a file", (path) => writeIn(path, "notes.txt", "mine\n"), "1 untracked file: notes.txt"],
    ["a change", (path) => writeIn(path, "readme.md", "hello to you\n"), "1 changed file: readme.md"],
    [
      "a file, where the making had come to no index",
      (path, gitDir) => {
        rmSync(join(gitDir, "index"));
        rmSync(join(path, "readme.md"));
        writeIn(path, "notes.txt", "mine\n");
      },
      "1 untracked file: notes.txt",
    ],
    ["a repository", (path) => void gitRepository(join(path, "inner")), "1 repository inside: inner/"],
  ])("%s", async (_what, work, told) => {
    const { workspace, wanted, plan, world } = await brokenOff(work);
    const before = traces(world);
    for (let times = 0; times < 2; times++) {
      const error = await failure(workspace.discard(wanted, plan), "workspace_dirty");
      expect(error.message).toContain(told);
      expect(traces(world)).toEqual(before);
    }
    expect(await workspace.marked()).toMatchObject([{ flaw: expect.any(String) }]);
  });

  /** Broken off while `.env` and `data` of the repository were put into it. */
  async function putting(cut: (path: string) => void) {
    const repository = gitRepository();
    repository.commit(".gitignore", ".env\ndata\nnode_modules/\n");
    writeIn(repository.path, ".env", "a=1\nb=2\n");
    writeIn(repository.path, "data/set.csv", "1\n");
    const all = await planned(worktreeWorld(repository));
    const postCreate = { ...all.wanted.postCreate, copy: [".env"], symlinks: ["data"] };
    const { path } = await all.workspace.create({ ...all.wanted, postCreate }, all.plan);
    rmSync(join(gitDirOf(path), "ao.json"));
    writeFileSync(join(gitDirOf(path), "locked"), `ao operation ${OPERATION}`);
    cut(path);
    return all;
  }

  test.each<[string, (path: string) => void]>([
    ["whole", () => undefined],
    ["cut off", (path) => writeIn(path, ".env", "a=1\n")],
    ["beside what a tool made", (path) => writeIn(path, "node_modules/a/index.js", "a\n")],
  ])("but not what the making puts there, %s", async (_how, cut) => {
    const { workspace, wanted, plan, world, before } = await putting(cut);
    await workspace.discard(wanted, plan);
    expect(traces(world)).toEqual(before);
  });

  test("an ignored file that differs from what the making puts there", async () => {
    const { workspace, wanted, plan } = await putting((path) => writeIn(path, ".env", "a=3\n"));
    const error = await failure(workspace.discard(wanted, plan), "workspace_dirty");
    expect(error.details["findings"]).toMatchObject([{ kind: "ignored", items: [".env"] }]);
  });
});

describe("what the operation did not make stays", () => {
  test("a branch that was there", async () => {
    const world = worktreeWorld();
    world.repository.git("branch", "feat/1");
    const { workspace, wanted, plan, before } = await planned(world);
    await workspace.create(wanted, plan);
    await workspace.discard(wanted, plan);
    expect(traces(world)).toEqual(before);
  });

  test("a branch that somebody made at the same commit just after the plan", async () => {
    const { workspace, wanted, plan, repository } = await planned();
    repository.git("branch", "feat/1");
    await failure(workspace.create(wanted, plan), "branch_in_use");
    await workspace.discard(wanted, plan);
    expect(repository.branches()).toContain("feat/1");
  });

  test("a branch that has moved on", async () => {
    const { workspace, wanted, plan, repository } = await planned();
    const { path } = await workspace.create(wanted, plan);
    gitIn(path, "commit", "--allow-empty", "-qm", "mine");
    await workspace.discard(wanted, plan);
    expect(repository.branches()).toContain("feat/1");
    expect(existsSync(path)).toBe(false);
  });

  test.each<[string, (all: Planned) => Promise<void> | void]>([
    ["another operation's worktree", ({ world }) => createdBy(world, { operationId: OTHER })],
    ["a worktree without an operation", ({ world }) => createdBy(world, { operationId: null })],
    ["a folder that a person put there", ({ wanted }) => writeIn(wanted.path, "notes.txt", "mine\n")],
    ["a repository that a person put there", ({ wanted }) => void gitRepository(wanted.path)],
    [
      "a worktree that a person made there",
      ({ repository, wanted }) =>
        void repository.git("worktree", "add", "-q", "-b", "mine", wanted.path, "main"),
    ],
    [
      "a worktree that a person locked there",
      ({ repository, wanted }) => {
        repository.git("worktree", "add", "-q", "-b", "mine", wanted.path, "main");
        repository.git("worktree", "lock", "--reason", "mine", wanted.path);
      },
    ],
    [
      "one that another operation has begun",
      async ({ world, wanted }) => {
        await createdBy(world, { operationId: OTHER });
        rmSync(join(gitDirOf(wanted.path), "ao.json"));
        writeFileSync(join(gitDirOf(wanted.path), "locked"), `ao operation ${OTHER}`);
      },
    ],
    [
      "one whose folder leads to another record",
      async ({ world, wanted, repository }) => {
        await createdBy(world, {});
        repository.git("worktree", "add", "-q", "-b", "mine", join(world.dataDir, "elsewhere"), "main");
        const link = readFileSync(join(world.dataDir, "elsewhere", ".git"));
        writeFileSync(join(wanted.path, ".git"), link);
      },
    ],
    [
      "a worktree that a person moved there",
      ({ repository, wanted, dataDir }) => {
        const elsewhere = join(dataDir, "elsewhere");
        repository.git("worktree", "add", "-q", "-b", "mine", elsewhere, "main");
        mkdirSync(join(wanted.path, ".."), { recursive: true });
        renameSync(elsewhere, wanted.path);
      },
    ],
  ])("%s, and everything else with it", async (_what, bringAbout) => {
    const all = await planned();
    await bringAbout(all);
    const before = traces(all.world);
    await failure(all.workspace.discard(all.wanted, all.plan), "workspace_unsafe_path");
    expect(traces(all.world)).toEqual(before);
  });

  test("the record that an earlier session of the path left", async () => {
    const { workspace, world, wanted, plan, repository } = await planned();
    await createdBy(world, { operationId: OTHER, branch: "feat/0" });
    rmSync(wanted.path, { recursive: true });
    await workspace.discard(wanted, plan);
    expect(repository.git("worktree", "list")).toContain("feat/0");
  });

  test("a record that somebody else has just begun", async () => {
    const { workspace, wanted, plan, repository } = await planned();
    const records = join(repository.path, ".git", "worktrees");
    writeIn(join(records, "theirs"), "locked", "initializing");
    mkdirSync(join(records, "empty"));
    await workspace.discard(wanted, plan);
    expect(readdirSync(records).sort()).toEqual(["empty", "theirs"]);
  });

  test("a path that the plan was not for", async () => {
    const { workspace, spec, wanted, plan } = await planned();
    await workspace.create(wanted, plan);
    const other = spec({ sessionId: "app-2" as SessionId });
    await failure(workspace.discard(other, plan), "workspace_unsafe_path");
    expect(existsSync(wanted.path)).toBe(true);
  });
});

async function createdBy(world: WorktreeWorld, patch: Parameters<WorktreeWorld["spec"]>[0]): Promise<void> {
  await world.workspace.create(world.spec({ branch: "theirs", operationId: OPERATION, ...patch }));
}

describe("children that still run", () => {
  const sleeper = (id: string, script = "exec sleep 60") => {
    const child = spawn("/bin/sh", ["-c", script], { env: { AO_OPERATION_ID: id }, stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child.pid ?? 0;
  };

  test("are ended first, however deaf, and those of another operation are not", async () => {
    const world = worktreeWorld(gitRepository(), { processes: systemProcessTable() });
    const { workspace, wanted, plan } = await planned(world);
    const [child, deaf] = [
      sleeper(OPERATION),
      sleeper(OPERATION, "trap '' TERM; while :; do sleep 0.1; done"),
    ];
    const other = sleeper(OTHER);
    await workspace.discard(wanted, plan);
    expect([child, deaf, other].map(isRunning)).toEqual([false, false, true]);
  });

  test("one that does not end is named, and nothing is taken away from under it", async () => {
    const world = worktreeWorld(gitRepository(), { processes: { signal: async () => undefined } });
    const { workspace, wanted, plan } = await planned(world);
    await workspace.create(wanted, plan);
    const { pid } = world.processes.add({ environment: { AO_OPERATION_ID: OPERATION } });
    const error = await failure(workspace.discard(wanted, plan), "teardown_incomplete");
    expect(error.details["left"]).toEqual([{ what: "process", where: `${pid}`, why: "it would not end" }]);
    expect(existsSync(wanted.path)).toBe(true);
  });
});

describe("an operation is known", () => {
  test("to every git, hook and command of its making, and only to them", async () => {
    const seen = join(worktreeWorld().dataDir, "..", "seen");
    const gitPath = gitWrapper(`echo "git \${AO_OPERATION_ID-none}" >> '${seen}'`);
    const world = worktreeWorld(gitRepository(), {
      gitPath,
      env: { PATH: process.env["PATH"], AO_OPERATION_ID: OTHER },
    });
    onTestFinished(() => rmSync(seen, { force: true }));
    const commands = [`echo "command \${AO_OPERATION_ID-none}" >> '${seen}'`];
    const env = { PATH: process.env["PATH"] ?? "", AO_OPERATION_ID: OTHER };
    const wanted = world.spec({ operationId: OPERATION, env, postCreate: { commands } });
    const plan = await world.workspace.plan(wanted);
    rmSync(seen);
    await world.workspace.create(wanted, plan);
    const lines = readFileSync(seen, "utf8").trimEnd().split("\n");
    expect(lines).toContain(`command ${OPERATION}`);
    expect(lines.filter((line) => line === `git ${OPERATION}`).length).toBeGreaterThan(1);
    rmSync(seen);
    await world.workspace.discard(wanted, plan);
    expect(new Set(readFileSync(seen, "utf8").trimEnd().split("\n"))).toEqual(new Set(["git none"]));
  });

  test("by git's own lock until the making is over, also to an older git", async () => {
    const gitPath = gitWrapper(
      'case " $* " in *" --reason "*) echo "error: unknown option \\`reason\'" >&2; exit 129;; esac',
    );
    for (const world of [worktreeWorld(), worktreeWorld(gitRepository(), { gitPath })]) {
      const commands = ['cat "$(git rev-parse --absolute-git-dir)/locked" > ../../locked'];
      const wanted = world.spec({ operationId: OPERATION, postCreate: { commands } });
      const { path } = await world.workspace.create(wanted);
      const reason = readFileSync(join(world.managedRoot, "locked"), "utf8");
      expect(reason).toMatch(/^(ao operation [0-9a-f-]{36}|added with --lock)\n?$/);
      expect(existsSync(join(gitDirOf(path), "locked"))).toBe(false);
    }
  });
});
