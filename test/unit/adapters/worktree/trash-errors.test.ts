import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { mountsBelow, parseMounts } from "../../../../src/adapters/worktree/mounts.ts";
import { removeTree } from "../../../../src/adapters/worktree/remove-tree.ts";
import { gitIn, gitRepository, writeIn } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { failure, filesBelow, gitWrapper, worktreeWorld } from "./worktree-world.ts";

/** A world with a worktree, and a git that runs `script` before a call with `command` among its arguments. */
async function withGit(command: string, script: (paths: Paths) => string, mountTable = "/dev/null") {
  const dataDir = tempDir("ao-data");
  const paths = { path: join(dataDir, "worktrees", "app", "app-1"), trashDir: join(dataDir, "trash") };
  const gitPath = gitWrapper(`case " $* " in *"${command}"*) ${script(paths)};; esac`);
  const managedRoot = join(dataDir, "worktrees");
  const options = { gitPath, managedRoot, trashDir: paths.trashDir, mountTable };
  const world = worktreeWorld(gitRepository(), options);
  await world.workspace.create(world.spec());
  return { ...world, ...paths };
}

interface Paths {
  readonly path: string;
  readonly trashDir: string;
}

const mountedAt = (path: string): string =>
  `36 35 98:0 / ${path.replaceAll(" ", "\\040")} rw - ext4 /dev/x rw\n`;

describe("a record that git keeps", () => {
  test("leaves the worktree where it was, whole", async () => {
    const { workspace, spec, path, trashDir } = await withGit("worktree remove", () => "exit 128");
    const error = await failure(workspace.destroy(spec()), "git_failed");
    expect(error.hint).toBeNull();
    expect(gitIn(path, "status", "--porcelain", "-b")).toBe("## feat/1");
    expect(filesBelow(trashDir)).toEqual([]);
  });

  test("because somebody locked it just now is told with how to unlock it", async () => {
    const { workspace, spec, path } = await withGit(
      "worktree remove",
      ({ path }) => `d=$2; mkdir -p '${path}'; git -C "$d" worktree lock '${path}'; rmdir '${path}'`,
    );
    const error = await failure(workspace.destroy(spec()), "git_failed");
    expect(error.hint).toContain(`worktree unlock ${path}`);
    expect(existsSync(join(path, "readme.md"))).toBe(true);
  });

  test("and a folder that cannot go back are told with where the files are", async () => {
    const { workspace, spec, path, trashDir } = await withGit(
      "worktree remove",
      ({ path }) => `mkdir -p '${path}'; echo x >'${path}/in-the-way'; echo "fatal: no" >&2; exit 128`,
    );
    const error = await failure(workspace.destroy(spec()), "teardown_incomplete");
    const [gone = ""] = readdirSync(trashDir);
    expect(error.message).toContain(join(trashDir, gone));
    expect(error.message).toContain("nobody needs its files");
    expect(error.details["left"]).toMatchObject([{ what: "files", where: join(trashDir, gone) }]);
    expect(existsSync(join(path, "in-the-way"))).toBe(true);
  });
});

test("a git that is lost between the move and the second look leaves the worktree where it was", async () => {
  const { workspace, spec, path, trashDir } = await withGit(".held", () => "kill -9 $$");
  await failure(workspace.destroy(spec()), "git_unavailable");
  expect(gitIn(path, "status", "--porcelain", "-b")).toBe("## feat/1");
  expect(filesBelow(trashDir)).toEqual([]);
});

describe("a mounted file system", () => {
  test("in a worktree is in use, also in a folder that any build makes", async () => {
    const mountTable = join(tempDir("ao-mounts"), "mounts");
    const { workspace, spec, path } = await withGit("nothing", () => ":", mountTable);
    writeIn(path, "node_modules/package.json", "{}");
    const exclude = gitIn(path, "rev-parse", "--path-format=absolute", "--git-path", "info/exclude");
    writeFileSync(exclude, "node_modules/\n");
    writeFileSync(
      mountTable,
      mountedAt("/") + mountedAt(`${path}-other`) + mountedAt(join(path, "node_modules")),
    );
    expect(await workspace.inspect(spec())).toContainEqual({
      kind: "in_use",
      detail: "1 mounted file system: node_modules",
      items: ["node_modules"],
      count: 1,
    });
    const error = await failure(workspace.destroy(spec()), "workspace_dirty");
    expect(error.message).toContain("1 mounted file system: node_modules");
    expect(existsSync(join(path, "node_modules", "package.json"))).toBe(true);
  });

  test("that came to lie in the trash is not deleted", async () => {
    const mountTable = join(tempDir("ao-mounts"), "mounts");
    const { workspace, spec, path, trashDir } = await withGit("nothing", () => ":", mountTable);
    writeFileSync(mountTable, "");
    await workspace.destroy(spec());
    const [gone = ""] = readdirSync(trashDir);
    writeFileSync(mountTable, mountedAt(join(trashDir, gone, "cache")));
    expect(existsSync(path)).toBe(false);
    const why = `a file system is mounted at ${join(trashDir, gone, "cache")}`;
    expect(await workspace.sweepTrash()).toEqual({
      deleted: 0,
      left: [{ path: join(trashDir, gone), why }],
    });
    expect(existsSync(join(trashDir, gone, "readme.md"))).toBe(true);
    writeFileSync(mountTable, "");
    expect((await workspace.sweepTrash()).deleted).toBe(1);
  });

  test("may be anywhere when the list cannot be read: nothing is moved or deleted", async () => {
    const mountTable = tempDir("ao-mounts");
    const { workspace, spec, path, trashDir } = await withGit("nothing", () => ":", mountTable);
    writeIn(join(trashDir, "app-9.1700000000000.x.gone"), "file", "x");
    await failure(workspace.destroy(spec()), "data_dir_unusable");
    expect(existsSync(join(path, "readme.md"))).toBe(true);
    expect((await workspace.sweepTrash()).deleted).toBe(0);
    expect(existsSync(join(trashDir, "app-9.1700000000000.x.gone", "file"))).toBe(true);
  });

  test("is told by its device where the system has no list", async () => {
    expect(await mountsBelow("/dev", "/nonexistent/mountinfo")).toEqual(["/dev"]);
    expect(await mountsBelow(tempDir("ao-plain"), "/nonexistent/mountinfo")).toEqual([]);
    expect(await mountsBelow("/nonexistent", "/nonexistent/mountinfo")).toEqual([]);
  });

  test("is not deleted with what is around it, whoever mounted it meanwhile", async () => {
    const folder = tempDir("ao-tree");
    writeIn(folder, "a/b/file", "x");
    const { dev } = lstatSync(folder);
    await expect(removeTree(join(folder, "a"), dev + 1)).rejects.toThrow("another file system is mounted at");
    expect(filesBelow(folder)).toEqual(["a", "a/b", "a/b/file"]);
    await removeTree(join(folder, "a"), dev);
    expect(filesBelow(folder)).toEqual([]);
  });

  test("is read from the system's own list, with its escapes", () => {
    const table = mountedAt("/") + mountedAt("/a b") + mountedAt("/back\\134slash");
    expect(parseMounts(table)).toEqual(["/", "/a b", "/back\\slash"]);
  });
});

test("a trash that cannot be looked into is an error, not an empty one", async () => {
  const { workspace, spec, path, trashDir } = await withGit("nothing", () => ":");
  rmSync(trashDir, { recursive: true, force: true });
  symlinkSync(trashDir, trashDir);
  rmSync(path, { recursive: true });
  mkdirSync(path);
  await failure(workspace.destroy(spec()), "data_dir_unusable");
  await failure(workspace.marked(), "data_dir_unusable");
});
