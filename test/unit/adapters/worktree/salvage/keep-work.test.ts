import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { execaSync } from "execa";
import { describe, expect, test } from "vitest";
import { memoryLocks } from "../../../../../src/adapters/memory/locks.ts";
import { memoryProcessTable } from "../../../../../src/adapters/memory/process-table.ts";
import { makeRef } from "../../../../../src/adapters/worktree/salvage/ao-commit.ts";
import { takeCheckpoint } from "../../../../../src/adapters/worktree/salvage/checkpoints.ts";
import { gitSnapshots } from "../../../../../src/adapters/worktree/salvage/git-snapshots.ts";
import { keepWork } from "../../../../../src/adapters/worktree/salvage/keep-work.ts";
import { salvagesOf } from "../../../../../src/adapters/worktree/salvage/salvage-refs.ts";
import type { TurnId } from "../../../../../src/domain/ids.ts";
import type { WorkspaceSpec } from "../../../../../src/ports/workspace.ts";
import { GIT_ENV, gitExit, gitIn, gitRepository, writeIn } from "../../../../support/git-repository.ts";
import { tempDir } from "../../../../support/temp-dir.ts";
import { failure, gitDirOf, hook, worktreeWorld } from "../worktree-world.ts";
import { AT_MS, gitFilesOf, pictureOf, type SalvageWorld, SESSION, salvageWorld } from "./salvage-world.ts";

const CHOSEN = { paths: [], unkeepable: [], special: [], isWork: false };
const REQUEST = { sessionId: SESSION, chosen: CHOSEN, reason: "kill", atMs: AT_MS } as const;

/** The port on a real repository, and a worktree that `ao` made. */
async function snapshotsWorld(repository = gitRepository(), patch: Partial<WorkspaceSpec> = {}) {
  repository.commit(".gitignore", ".env\nvendor/\n");
  const world = worktreeWorld(repository);
  const { managedRoot, trashDir } = world;
  const snapshots = gitSnapshots({
    ...{ managedRoot, trashDir, env: GIT_ENV },
    ...{ processes: memoryProcessTable(), locks: memoryLocks() },
  });
  const spec = world.spec(patch);
  const { path } = await world.workspace.create(spec);
  const salvage = () => snapshots.salvage({ workspace: spec, reason: "kill", atMs: AT_MS });
  return { ...world, snapshots, spec, path, salvage };
}

function kept(outcome: Awaited<ReturnType<SalvageWorld["salvage"]>>) {
  if (outcome.kind !== "kept") throw new Error("nothing was kept");
  return outcome;
}

describe("a salvage", () => {
  test("runs no hook, asks nobody's name or key, and leaves no log", async () => {
    const world = salvageWorld();
    const ran = join(tempDir("ao-hooks"), "ran");
    for (const name of ["reference-transaction", "post-index-change", "pre-commit", "post-checkout"]) {
      hook(world.repository, name, `echo ${name} >> '${ran}'`);
    }
    for (const [name, value] of [
      ["user.useConfigOnly", "true"],
      ["commit.gpgSign", "true"],
      ["gpg.program", "false"],
      ["core.logAllRefUpdates", "always"],
    ] as const) {
      world.git("config", name, value);
    }
    world.write("notes.txt", "mine\n");
    rmSync(ran, { force: true });
    const { commit } = kept(await world.salvage());
    expect(() => readdirSync(dirname(ran))).not.toThrow();
    expect(readdirSync(dirname(ran))).toEqual([]);
    expect(readdirSync(join(world.repository.path, ".git/logs/refs"))).not.toContain("ao");
    expect(world.git("log", "-1", "--format=%an <%ae> %at %s", commit)).toBe(
      `ao <ao@localhost> ${AT_MS / 1000} work of app-1`,
    );
  });

  test("holds commits that nothing else has: of a detached HEAD, and where HEAD has been", async () => {
    const world = salvageWorld();
    world.git("checkout", "-q", "--detach");
    const left = ["first", "second", "third"].map((message) => {
      world.git("commit", "-q", "--allow-empty", "-m", message);
      const commit = world.git("rev-parse", "HEAD");
      world.git("reset", "-q", "--hard", "HEAD~1");
      return commit;
    });
    world.git("commit", "-q", "--allow-empty", "-m", "own");
    const own = world.git("rev-parse", "HEAD");
    const { commit } = kept(await world.salvage());
    world.makeAnew();
    world.forgetLoose();
    expect(world.git("rev-parse", `${commit}^1`)).toBe(own);
    for (const one of [...left, own]) expect(gitExit(world.path, "cat-file", "-e", one)).toBe(0);
  });

  test("holds what is under way so that it can be finished: changes set aside come back at its end", async () => {
    const world = salvageWorld();
    world.git("commit", "-q", "--allow-empty", "-m", "second");
    world.write("tracked.txt", "set aside\n");
    world.git("-c", "sequence.editor=sed -i s/^pick/edit/", "rebase", "-qi", "--autostash", "HEAD~1");
    const { commit } = kept(await world.salvage());
    world.makeAnew();
    world.forgetLoose();
    await world.putBack(commit);
    world.git("rebase", "--continue");
    expect(world.git("status", "--porcelain")).toBe(" M tracked.txt");
    expect(world.git("symbolic-ref", "HEAD")).toBe("refs/heads/feat/1");
  });

  test("has what a file is in the end when it changes while it is read", async () => {
    const world = salvageWorld();
    world.write("notes.txt", "first\n");
    let changes = 0;
    const keeping = await world.keeping(async (boundary) => {
      if (boundary !== "salvage.objects:before" || changes > 0) return;
      changes += 1;
      world.write("notes.txt", "second, and longer\n");
    });
    const { commit } = kept(await keepWork(keeping, REQUEST));
    expect(world.git("cat-file", "blob", `${commit}:files/notes.txt`)).toBe("second, and longer");
  });

  test.each(["salvage.objects:before", "salvage.objects:after"])(
    "is refused when something changes at %s each time",
    async (where) => {
      const world = salvageWorld();
      world.write("notes.txt", "0\n");
      let changes = 0;
      const keeping = await world.keeping(async (boundary) => {
        if (boundary === where) world.write("other.txt", `${++changes}\n`);
      });
      await failure(keepWork(keeping, REQUEST), "busy");
      expect(world.repository.git("for-each-ref", "refs/ao")).toBe("");
      expect(readdirSync(gitDirOf(world.path)).filter((name) => name.startsWith("ao-"))).toEqual([]);
    },
  );

  test("is made by many at once, each with a number of its own", async () => {
    const world = salvageWorld();
    world.write("notes.txt", "mine\n");
    const keepings = await Promise.all(Array.from({ length: 5 }, () => world.keeping()));
    const all = await Promise.all(keepings.map((keeping) => keepWork(keeping, REQUEST)));
    const refs = world.repository.git("for-each-ref", "--format=%(refname)", "refs/ao").split("\n");
    expect(refs).toEqual(Array.from(refs, (_, at) => `refs/ao/salvage/app-1/${at + 1}`));
    expect(new Set(all.map((outcome) => kept(outcome).commit)).size).toBe(1);
    for (const outcome of all) expect(refs).toContain(kept(outcome).ref);
  });

  test("is not said to be there when git lost something of it", async () => {
    const world = salvageWorld();
    world.write("notes.txt", "mine\n");
    const packs = join(world.repository.path, ".git/objects/pack");
    const keeping = await world.keeping(async (boundary) => {
      if (boundary !== "salvage.commit:before") return;
      for (const name of readdirSync(packs)) rmSync(join(packs, name));
    });
    await failure(keepWork(keeping, REQUEST), "git_failed");
    expect(world.repository.git("for-each-ref", "refs/ao")).toBe("");
  });

  test("is not said to be there when git gives back something else", async () => {
    const world = salvageWorld();
    world.write("staged.txt", "staged\n");
    world.write("other.txt", "another\n");
    world.git("add", ".");
    const [one, other] = ["staged.txt", "other.txt"].map((name) => looseObject(world, `:${name}`));
    copyFileSync(`${other}`, `${one}.new`);
    renameSync(`${one}.new`, `${one}`);
    await failure(world.salvage(), "git_failed");
    expect(world.repository.git("for-each-ref", "refs/ao")).toBe("");
  });

  test("is refused while the index cannot be read, and changes nothing", async () => {
    const world = salvageWorld();
    const index = join(gitDirOf(world.path), "index");
    writeFileSync(index, "no index\n");
    world.write("notes.txt", "mine\n");
    const before = gitFilesOf(world);
    await failure(world.salvage(), "git_failed");
    expect(gitFilesOf(world)).toEqual(before);
  });

  test("finds the change that git cannot see: same size, and times as they were to the second", async () => {
    const world = salvageWorld();
    const file = join(world.path, "run.sh");
    const write = (content: string) => {
      world.write("run.sh", content);
      execaSync("touch", ["-d", "@1600000000", file]);
    };
    write("one\n");
    world.git("add", ".");
    write("two\n");
    const { commit } = kept(await world.salvage());
    expect(world.git("cat-file", "blob", `${commit}:files/run.sh`)).toBe("two");
    world.makeAnew();
    await world.putBack(commit);
    expect(world.git("cat-file", "blob", ":run.sh")).toBe("one");
    expect(execaSync("cat", [file]).stdout).toBe("two");
  });

  test("brings back the bytes of a file whose filter is gone", async () => {
    const world = salvageWorld();
    world.git("config", "filter.rot.clean", "tr a-y b-z");
    world.write(".gitattributes", "*.rot filter=rot\n");
    world.write("a.rot", "abc\n");
    world.git("add", ".");
    world.git("config", "--unset", "filter.rot.clean");
    const before = pictureOf(world.path);
    const { commit } = kept(await world.salvage());
    world.makeAnew();
    await world.putBack(commit);
    const { files, index } = pictureOf(world.path);
    expect({ files, index }).toEqual({ files: before.files, index: before.index });
  });
});

/** The file of an object that is in no pack. */
function looseObject({ repository, path }: SalvageWorld, name: string): string {
  const oid = gitIn(path, "rev-parse", name);
  return join(repository.path, ".git/objects", oid.slice(0, 2), oid.slice(2));
}

describe("a ref of a salvage", () => {
  test("is made once: who comes second is told, and changes nothing", async () => {
    const { keeping, git } = salvageWorld();
    const { plumbing } = await keeping();
    const [first, second] = ["one", "two"].map((text) => git("commit-tree", "-m", text, "HEAD^{tree}"));
    const ref = "refs/ao/salvage/app-1/1";
    expect(await makeRef(plumbing, ref, `${first}`)).toBe(true);
    expect(await makeRef(plumbing, ref, `${second}`)).toBe(false);
    expect(git("rev-parse", ref)).toBe(first);
  });

  test("comes after all others by its number", async () => {
    const world = salvageWorld();
    world.write("notes.txt", "mine\n");
    const { commit } = kept(await world.salvage());
    for (const number of [10, 2]) world.git("update-ref", `refs/ao/salvage/app-1/${number}`, commit);
    world.git("update-ref", "refs/ao/salvage/app-1/nobody", commit);
    const { plumbing } = await world.keeping();
    const found = await salvagesOf(plumbing, SESSION);
    expect(found.map(({ number }) => number)).toEqual([1, 2, 10]);
    world.write("notes.txt", "more\n");
    expect(kept(await world.salvage()).ref).toBe("refs/ao/salvage/app-1/11");
  });
});

describe("a checkpoint", () => {
  test("has a change that left size and times as they were when the index was written", async () => {
    const world = salvageWorld();
    const at = 1_600_000_000;
    const file = join(world.path, "run.sh");
    world.write("run.sh", "one\n");
    utimesSync(file, at, at);
    world.git("add", ".");
    world.write("run.sh", "two\n");
    utimesSync(file, at, at);
    utimesSync(join(gitDirOf(world.path), "index"), at, at);
    const turnId = "turn-1" as TurnId;
    const { commit } = await takeCheckpoint(await world.keeping(), {
      ...{ sessionId: SESSION, turnId, edge: "end", atMs: AT_MS },
    });
    expect(world.git("cat-file", "blob", `${commit}:run.sh`)).toBe("two");
  });
});

describe("the snapshots of a workspace", () => {
  test("hold all that inspect would keep it for", async () => {
    const { workspace, snapshots, spec, path, salvage } = await snapshotsWorld();
    writeIn(path, ".env", "SECRET=1\n");
    gitRepository(join(path, "vendor/inner"));
    gitRepository(join(path, "apart"));
    mkdirSync(join(path, "folder"));
    const found = await workspace.inspect(spec);
    expect(found.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["ignored", "nested_repository"]));
    const before = pictureOf(path);
    const { ref } = kept(await salvage());
    rmSync(path, { recursive: true });
    gitIn(spec.repositoryPath, "worktree", "prune");
    await workspace.restore(spec);
    await snapshots.putBack({ workspace: spec, ref });
    expect(pictureOf(path)).toEqual(before);
    expect(await workspace.inspect(spec)).toEqual(found);
  });

  test("hold what only git's own folder has: settings of the worktree, the draft of a commit's message", async () => {
    const { workspace, snapshots, spec, path, salvage } = await snapshotsWorld();
    gitIn(path, "config", "extensions.worktreeConfig", "true");
    gitIn(path, "config", "--worktree", "user.name", "Somebody");
    writeIn(gitDirOf(path), "COMMIT_EDITMSG", "a long thought\n\n# Please enter the commit message\n");
    const found = await workspace.inspect(spec);
    expect(found).toMatchObject([{ kind: "operation_in_progress", count: 2 }]);
    const { ref } = kept(await salvage());
    await workspace.destroy(spec, undefined, () => snapshots.holds({ workspace: spec, ref }));
    await workspace.restore(spec);
    await snapshots.putBack({ workspace: spec, ref });
    expect(gitIn(path, "config", "--worktree", "user.name")).toBe("Somebody");
    expect(await workspace.inspect(spec)).toEqual(found);
  });

  test("do not hold what ao put there and nobody changed; what somebody changed takes its place", async () => {
    const repository = gitRepository();
    writeIn(repository.path, ".env", "SECRET=1\n");
    const postCreate = { symlinks: [], copy: [".env"], commands: [], timeoutMs: 5_000 };
    const { workspace, snapshots, spec, path, salvage } = await snapshotsWorld(repository, { postCreate });
    expect(await salvage()).toEqual({ kind: "nothing" });
    writeIn(path, "notes.txt", "mine\n");
    const first = kept(await salvage());
    expect((await snapshots.show(repository.path, first.ref)).files.map((file) => file.path)).toEqual([
      "notes.txt",
    ]);
    writeIn(path, ".env", "SECRET=2\n");
    const { ref } = kept(await salvage());
    repository.git("worktree", "remove", "--force", path);
    await workspace.restore(spec);
    expect(execaSync("cat", [join(path, ".env")]).stdout).toBe("SECRET=1");
    await snapshots.putBack({ workspace: spec, ref });
    expect(execaSync("cat", [join(path, ".env")]).stdout).toBe("SECRET=2");
  });

  test("name a submodule with work of its own and keep nothing", async () => {
    const inner = gitRepository();
    const repository = gitRepository();
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.path, "sub");
    repository.git("commit", "-qm", "sub");
    const { path, salvage } = await snapshotsWorld(repository);
    gitIn(path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init");
    writeIn(path, "notes.txt", "mine\n");
    const { ref } = kept(await salvage());
    writeIn(path, "sub/own.txt", "own\n");
    const error = await failure(salvage(), "workspace_dirty");
    expect(error.details).toMatchObject({ unkeepable: [{ path: "sub" }] });
    expect(repository.git("for-each-ref", "--format=%(refname)", "refs/ao")).toBe(ref);
  });

  test("hold what git still has of a worktree that somebody deleted", async () => {
    const { workspace, snapshots, spec, path, salvage } = await snapshotsWorld();
    writeIn(path, "staged.txt", "staged\n");
    gitIn(path, "add", ".");
    gitIn(path, "checkout", "-q", "--detach");
    gitIn(path, "commit", "-q", "--allow-empty", "-m", "own");
    const own = gitIn(path, "rev-parse", "HEAD");
    writeIn(path, "again.txt", "again\n");
    gitIn(path, "add", ".");
    const before = pictureOf(path);
    rmSync(path, { recursive: true });
    const { ref, commit } = kept(await salvage());
    gitIn(spec.repositoryPath, "worktree", "prune");
    await workspace.restore(spec);
    await snapshots.putBack({ workspace: spec, ref });
    expect(pictureOf(path)).toEqual(before);
    expect(gitIn(path, "rev-parse", `${commit}^1`)).toBe(own);
  });

  test("are told of a worktree that an interrupted removal moved aside", async () => {
    const { snapshots, spec, path, trashDir, salvage } = await snapshotsWorld();
    writeIn(path, "notes.txt", "mine\n");
    const { ref } = kept(await salvage());
    mkdirSync(trashDir, { recursive: true });
    const held = join(trashDir, `${SESSION}.held`);
    renameSync(path, held);
    expect(await snapshots.holds({ workspace: spec, ref })).toBe(true);
    writeIn(held, "notes.txt", "more\n");
    expect(await snapshots.holds({ workspace: spec, ref })).toBe(false);
    expect(kept(await salvage()).ref).toBe("refs/ao/salvage/app-1/2");
  });

  test("are told of one whose folder is gone, by what git still has of it", async () => {
    const { snapshots, spec, path, salvage } = await snapshotsWorld();
    writeIn(path, "staged.txt", "staged\n");
    gitIn(path, "add", ".");
    writeIn(path, "notes.txt", "mine\n");
    const { ref } = kept(await salvage());
    const gitDir = gitDirOf(path);
    rmSync(path, { recursive: true });
    expect(await snapshots.holds({ workspace: spec, ref })).toBe(true);
    gitIn(spec.repositoryPath, `--git-dir=${gitDir}`, "rm", "-q", "--cached", "staged.txt");
    expect(await snapshots.holds({ workspace: spec, ref })).toBe(false);
  });

  test.each(["another session's", "a stranger's"])("do not touch a folder that is %s", async (whose) => {
    const { snapshots, spec, path, workspace } = await snapshotsWorld();
    const other = { ...spec, sessionId: "app-2" as typeof SESSION };
    const wrong = whose === "a stranger's" ? { ...spec, path: tempDir("ao-elsewhere") } : { ...other, path };
    const error = (work: Promise<unknown>) => failure(work, "workspace_unsafe_path");
    await error(snapshots.salvage({ workspace: wrong, reason: "kill", atMs: AT_MS }));
    await error(snapshots.putBack({ workspace: wrong, ref: "refs/ao/salvage/app-1/1" }));
    await error(snapshots.take(wrong, "turn-1" as never, "end"));
    expect(await workspace.inspect(spec)).toEqual([]);
  });

  test("cannot hold what nobody may read", async () => {
    const { path, salvage } = await snapshotsWorld();
    writeIn(path, "closed/notes.txt", "mine\n");
    if (process.getuid?.() === 0) {
      rmSync(join(path, "readme.md"));
      execaSync("mkfifo", [join(path, "readme.md")]);
    } else chmodSync(join(path, "closed"), 0);
    await failure(salvage(), process.getuid?.() === 0 ? "workspace_dirty" : "git_failed");
    chmodSync(join(path, "closed"), 0o700);
  });
});
