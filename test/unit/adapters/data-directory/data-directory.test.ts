import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { dataDirectory } from "../../../../src/adapters/data-directory/data-directory.ts";
import { gitIn, gitRepository } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { unprivileged } from "../../../support/unprivileged.ts";

const at = (path: string) => dataDirectory({ AO_DATA_DIR: path }, "/");

describe("the data directory", () => {
  test("that cannot be entered does not pass for one without a store", () => {
    const root = tempDir();
    const path = join(root, "data");
    mkdirSync(path);
    writeFileSync(join(path, "ao.db"), "");
    chmodSync(path, 0o000);
    onTestFinished(() => chmodSync(path, 0o700));
    const look = () => unprivileged([root], () => at(path).holdsAny([join(path, "ao.db")]));
    expect(look).toThrow(expect.objectContaining({ code: "data_dir_unusable" }));
  });

  test("holds what lies in it, be it a link to nothing", () => {
    const path = tempDir();
    const [none, link] = [join(path, "ao.db"), join(path, "ao.db-wal")];
    expect(at(path).holdsAny([none, link])).toBe(false);
    expect(at(join(path, "new")).holdsAny([join(path, "new", "ao.db")])).toBe(false);
    symlinkSync(join(path, "nowhere"), link);
    expect(at(path).holdsAny([none, link])).toBe(true);
  });

  test.each([0o000, 0o022, 0o077])(
    "is made for the user alone under umask %i, with those around it",
    (umask) => {
      const path = join(tempDir(), "new", "data");
      const before = process.umask(umask);
      onTestFinished(() => void process.umask(before));
      expect(at(path).prepare()).toBe(path);
      for (const folder of [path, join(path, "..")]) expect(statSync(folder).mode & 0o777).toBe(0o700);
    },
  );

  test("that is there keeps its mode, and links on the way are resolved", () => {
    const root = tempDir();
    mkdirSync(join(root, "real"), { mode: 0o750 });
    symlinkSync(join(root, "real"), join(root, "link"));
    expect(at(join(root, "link")).prepare()).toBe(join(root, "real"));
    expect(statSync(join(root, "real")).mode & 0o777).toBe(0o750);
  });

  test.each<[string, (root: string) => string]>([
    [
      "below a file",
      (root) => {
        writeFileSync(join(root, "file"), "");
        return join(root, "file", "data");
      },
    ],
    ["that nobody can make", () => "/proc/none/data"],
  ])("%s is data_dir_unusable", (_where, path) => {
    expect(() => at(path(tempDir())).prepare()).toThrow(
      expect.objectContaining({ code: "data_dir_unusable", hint: expect.stringContaining("AO_DATA_DIR") }),
    );
  });

  test("whose path is not what was given, for want of UTF-8, is neither made nor looked for", () => {
    const directory = dataDirectory({ HOME: join(tempDir(), "caf\ufffd") }, "/");
    for (const use of [directory.exists, directory.prepare, directory.resolved]) {
      expect(use).toThrow(expect.objectContaining({ code: "data_dir_unusable" }));
    }
    expect(existsSync(directory.path)).toBe(false);
  });

  test.each(["rel", ".", "../home"])("below HOME=%s, which is no absolute path, is refused", (home) => {
    const directory = dataDirectory({ HOME: home }, "/");
    for (const use of [directory.exists, directory.prepare, directory.resolved]) {
      const hint = expect.stringContaining("HOME");
      expect(use).toThrow(expect.objectContaining({ code: "data_dir_unusable", hint }));
    }
    expect(dataDirectory({ HOME: home, AO_DATA_DIR: "rel" }, "/work").path).toBe("/work/rel");
  });

  test("is taken from AO_DATA_DIR, from an absolute XDG_DATA_HOME, else from the home folder", () => {
    const env = { AO_DATA_DIR: "rel", XDG_DATA_HOME: "/xdg", HOME: "/home/u" };
    expect(dataDirectory(env, "/work")).toMatchObject({ path: "/work/rel", origin: "AO_DATA_DIR" });
    const { AO_DATA_DIR: _none, ...rest } = env;
    expect(dataDirectory(rest, "/work")).toMatchObject({ path: "/xdg/ao", origin: "XDG_DATA_HOME" });
    expect(dataDirectory({ ...rest, XDG_DATA_HOME: "rel" }, "/work").path).toBe("/home/u/.local/share/ao");
  });
});

describe("what other users could read in a data directory", () => {
  test("is named down to the files of a launch, and closed", () => {
    const path = tempDir();
    const launch = join(path, "launch", "app-1", "launch-1");
    const worktree = join(path, "worktrees", "app", "app-1");
    for (const folder of [launch, worktree]) mkdirSync(folder, { recursive: true, mode: 0o700 });
    const [prompt, theirs] = [join(launch, "prompt"), join(worktree, "README.md")];
    for (const file of [prompt, theirs]) {
      writeFileSync(file, "");
      chmodSync(file, 0o644);
    }
    expect(at(path).openToOthers()).toEqual([prompt]);
    at(path).closeToOthers([prompt]);
    expect(at(path).openToOthers()).toEqual([]);
  });
});

describe("a data directory inside a repository", () => {
  test("is not in its status, and no file of the repository is touched", () => {
    const repository = gitRepository();
    const link = join(tempDir(), "link");
    symlinkSync(repository.path, link);
    const path = join(link, "deep", ".ao");
    const directory = at(path);
    expect(directory.prepare()).toBe(join(repository.path, "deep", ".ao"));
    writeFileSync(join(path, "ao.db"), "", { mode: 0o600 });
    expect(repository.git("status", "--porcelain", "--untracked-files=all")).toBe("");
    expect(directory.openToOthers()).toEqual([]);
    expect(directory.prepare()).toBe(join(repository.path, "deep", ".ao"));
  });

  test("is hidden in a linked worktree and when it was there before", () => {
    const repository = gitRepository();
    const linked = join(tempDir(), "linked");
    repository.git("worktree", "add", "-q", "-b", "linked", linked);
    mkdirSync(join(linked, "data"));
    writeFileSync(join(linked, "data", "ao.db"), "");
    at(join(linked, "data")).prepare();
    expect(gitIn(linked, "status", "--porcelain")).toBe("");
  });

  test("keeps a .gitignore that is there", () => {
    const repository = gitRepository();
    repository.commit("data/.gitignore", "*.db\n");
    at(join(repository.path, "data")).prepare();
    expect(repository.git("status", "--porcelain")).toBe("");
  });

  test("that is the top folder itself is refused with a place in it, unless a store is there already", () => {
    const { path } = gitRepository();
    const hint = expect.stringContaining(join(path, ".ao"));
    expect(() => at(path).prepare()).toThrow(expect.objectContaining({ code: "data_dir_unusable", hint }));
    writeFileSync(join(path, "ao.db"), "");
    expect(at(path).prepare()).toBe(path);
  });

  test("that is nowhere in one has nothing to hide", () => {
    const path = tempDir();
    at(path).prepare();
    expect(existsSync(join(path, ".gitignore"))).toBe(false);
  });

  test.each([
    ["the .git of a repository", (root: string) => join(gitRepository(root).path, ".git")],
    [
      "a bare repository",
      (root: string) => {
        gitIn(root, "init", "-q", "--bare", "bare.git");
        return join(root, "bare.git");
      },
    ],
  ])("that is %s is refused by whatever looks at it", (_what, place) => {
    const path = place(tempDir());
    for (const use of [at(path).exists, at(path).resolved, at(path).prepare]) {
      expect(use).toThrow(
        expect.objectContaining({
          code: "data_dir_unusable",
          message: expect.stringContaining("git directory"),
        }),
      );
    }
    expect(at(join(path, "ao")).exists()).toBe(false);
  });
});
