import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { GIT_ENV, gitIn, gitRepository, writeIn } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { failure, gitWrapper, itemsByKind, worktreeWorld } from "./worktree-world.ts";

/** A session's worktree, and what is found in it. */
async function opened(gitPath = "git", env: Readonly<Record<string, string>> = {}) {
  const repository = gitRepository();
  const world = worktreeWorld(repository, { gitPath, env: { ...GIT_ENV, ...env } });
  const { path } = await world.workspace.create(world.spec());
  const git = (...args: readonly string[]) => gitIn(path, ...args);
  return {
    ...world,
    path,
    git,
    look: async () => itemsByKind(await world.workspace.inspect(world.spec())),
    commit(files: Readonly<Record<string, string>>) {
      for (const [name, content] of Object.entries(files)) writeIn(path, name, content);
      git("-c", "core.safecrlf=false", "add", "-A");
      git("commit", "-qm", "work");
      expect(git("status", "--porcelain")).toBe("");
    },
  };
}

type Opened = Awaited<ReturnType<typeof opened>>;

function strip({ git }: Opened, smudge = "cat"): void {
  git("config", "filter.strip.clean", "sed '/^out/d'");
  git("config", "filter.strip.smudge", smudge);
}

const LOSSY = { ".gitattributes": "*.nb filter=strip\n", "x.nb": "code\ncode 2\nout precious\n" };

describe("a committed file that a filter made poorer", () => {
  test("is a change, for inspect, survey and destroy", async () => {
    const world = await opened();
    strip(world);
    world.commit({ ...LOSSY, "y.nb": "code\n" });
    const { workspace, spec } = world;
    expect(await world.look()).toEqual({ changed: ["x.nb"] });
    expect(itemsByKind((await workspace.survey(spec())).findings)).toEqual({ changed: ["x.nb"] });
    const refused = await failure(workspace.destroy(spec()), "workspace_dirty");
    expect(itemsByKind(refused.details["findings"] as never)).toEqual({ changed: ["x.nb"] });
  });

  test("is a change whatever its name, and behind --assume-unchanged", async () => {
    const world = await opened();
    strip(world);
    const names = [" blank.nb", "line\nfeed.nb", "ümlaut.nb", "hidden.nb"];
    const files = Object.fromEntries(names.map((name) => [name, `code\nout ${name}\n`]));
    world.commit({ ".gitattributes": LOSSY[".gitattributes"], ...files, "same.nb": "code\n" });
    world.git("update-index", "--assume-unchanged", "hidden.nb");
    expect((await world.look())["changed"]?.toSorted()).toEqual(names.toSorted());
  });

  test("is a change when the program that converts it back fails", async () => {
    const world = await opened();
    strip(world, "false");
    world.git("config", "filter.strip.required", "true");
    world.commit({ ".gitattributes": "*.nb filter=strip\n", "y.nb": "code\n", "z.txt": "z\n" });
    expect(await world.look()).toEqual({ changed: ["y.nb"] });
  });

  test("is no change when the way out gives the same bytes", async () => {
    const world = await opened();
    world.git("config", "filter.rot.clean", "tr a-z n-za-m");
    world.git("config", "filter.rot.smudge", "tr n-za-m a-z");
    world.commit({
      ".gitattributes": "*.rot filter=rot\n",
      "a.rot": "abc\n",
      "b.rot": "no end",
      "c.rot": "",
    });
    expect(await world.look()).toEqual({});
  });

  test("is a change where the attributes are the repository's own, or the user's", async () => {
    const home = tempDir("ao-home");
    const world = await opened("git", { HOME: home, XDG_CONFIG_HOME: "" });
    strip(world);
    writeIn(world.repository.path, ".git/info/attributes", "*.nb filter=strip\n");
    world.commit({ "x.nb": LOSSY["x.nb"] });
    expect(await world.look()).toEqual({ changed: ["x.nb"] });
    rmSync(join(world.repository.path, ".git/info/attributes"));
    world.git("add", "--renormalize", ".");
    world.git("commit", "-qm", "raw");
    expect(await world.look()).toEqual({});
    writeIn(home, ".config/git/attributes", "*.nb filter=strip\n");
    writeIn(world.path, "x.nb", "code\nout precious\n");
    gitIn(
      world.path,
      "-c",
      `core.attributesFile=${join(home, ".config/git/attributes")}`,
      "commit",
      "-qam",
      "nb",
    );
    expect(await world.look()).toEqual({ changed: ["x.nb"] });
  });
});

describe("line ends", () => {
  test("that a checkout gives, and those that the commit has, are no change; others are", async () => {
    const world = await opened();
    world.git("config", "core.autocrlf", "true");
    world.commit({ "crlf.txt": "one\r\ntwo\r\n", "mixed.txt": "one\r\ntwo\n", "lf.txt": "one\n" });
    expect(await world.look()).toEqual({ changed: ["mixed.txt"] });
  });

  test("that an attribute converts are compared, too", async () => {
    const world = await opened();
    const attributes = "*.bat text eol=crlf\n*.txt text=auto\n";
    world.commit({ ".gitattributes": attributes, "a.bat": "one\r\n", "a.txt": "one\n", "b.txt": "one\r\n" });
    expect(await world.look()).toEqual({ changed: ["b.txt"] });
  });

  test("are compared where the setting is written without a value, which ends git when it is to tell it", async () => {
    const world = await opened();
    writeFileSync(join(world.repository.path, ".git/config"), "[core]\n\tautocrlf\n", { flag: "a" });
    world.commit({ "readme.md": "a\r\n", "mixed.txt": "one\r\ntwo\n" });
    expect(await world.look()).toEqual({ changed: ["mixed.txt"] });
  });
});

test("an expanded id and another encoding are no change", async () => {
  const world = await opened();
  world.commit({ ".gitattributes": "*.id ident\n*.u16 working-tree-encoding=UTF-16LE\n", "a.id": "$Id$\n" });
  rmSync(join(world.path, "a.id"));
  world.git("checkout", "-q", "--", "a.id");
  writeFileSync(join(world.path, "b.u16"), Buffer.from("wide\n", "utf16le"));
  world.git("add", ".");
  world.git("commit", "-qm", "wide");
  expect(await world.look()).toEqual({});
});

test("a mode that git was told not to look at is a change", async () => {
  const world = await opened();
  world.git("config", "core.fileMode", "false");
  world.commit({ "run.sh": "x\n", "same.sh": "x\n" });
  chmodSync(join(world.path, "run.sh"), 0o755);
  expect(world.git("status", "--porcelain")).toBe("");
  expect(await world.look()).toEqual({ changed: ["run.sh"] });
});

describe("Git LFS", () => {
  const CONTENT = "big\n";
  const OID = "54f97ee275d2c6d36bb1c54f6a1a3a5a06ddcaf7dd6f0e1b1a4d2ce8f7b4b0a1";
  const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${OID}\nsize ${CONTENT.length}\n`;

  async function withLfs() {
    const world = await opened();
    writeIn(world.repository.path, "pointer", POINTER);
    world.git("config", "filter.lfs.clean", `cat '${join(world.repository.path, "pointer")}'`);
    world.git("config", "filter.lfs.smudge", "no-such-lfs");
    world.git("config", "filter.lfs.required", "true");
    world.commit({ ".gitattributes": "*.bin filter=lfs -text\n", "a.bin": CONTENT, "b.bin": CONTENT });
    return world;
  }

  test("content in its store is no change", async () => {
    const world = await withLfs();
    writeIn(world.repository.path, `.git/lfs/objects/${OID.slice(0, 2)}/${OID.slice(2, 4)}/${OID}`, CONTENT);
    writeIn(world.path, "b.bin", POINTER);
    world.git("add", ".");
    expect(await world.look()).toEqual({});
  });

  test("content that is in no store, and that it cannot fetch, is a change", async () => {
    expect(await (await withLfs()).look()).toEqual({ changed: ["a.bin", "b.bin"] });
  });

  test("another filter of its name is compared", async () => {
    const world = await opened();
    world.git("config", "filter.lfs.clean", "sed '/^out/d'");
    world.commit({ ".gitattributes": "*.bin filter=lfs\n", "a.bin": "code\nout\n", "b.bin": "code\n" });
    expect(await world.look()).toEqual({ changed: ["a.bin"] });
  });
});

test("where nothing is converted git is not asked", async () => {
  const log = join(tempDir("ao-log"), "calls");
  const world = await opened(gitWrapper(`echo "$*" >> '${log}'`));
  world.commit({ ".gitattributes": "*.png binary\n*.x linguist-generated\n", "f.txt": "f\n" });
  writeFileSync(log, "");
  expect(await world.look()).toEqual({});
  expect(readFileSync(log, "utf8")).not.toMatch(/check-attr|cat-file| config |ls-files -s -z/);
});
