import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ignoredEvidence } from "../../../../src/adapters/worktree/ignored-evidence.ts";
import { ignoredJudge } from "../../../../src/adapters/worktree/ignored-judge.ts";
import { type ScanOptions, scanTree } from "../../../../src/adapters/worktree/scan-tree.ts";
import { NO_IGNORED_RULE } from "../../../../src/domain/ignored-rule.ts";
import { writeIn } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";

/** A folder with these files, and a look through it. */
function aTree(...files: readonly string[]) {
  const root = tempDir("ao-tree");
  for (const file of files) writeIn(root, file, "x");
  const scan = (options: Partial<ScanOptions> = {}) => {
    const judge = ignoredJudge(NO_IGNORED_RULE, ignoredEvidence(options.root ?? root, []));
    return scanTree({ root, home: root, ignored: [], gitlinks: [], judge, ...options });
  };
  return { root, scan };
}

describe("scanTree", () => {
  test("finds every repository but the tree's own and those that are looked into elsewhere", async () => {
    const { scan } = aTree(".git", "a/b/.git/HEAD", "lib/.git", "node_modules/x/y/.git", "data/r/.git");
    const ignored = ["node_modules/", "data/"];
    expect(await scan({ ignored, gitlinks: ["lib"] })).toEqual({
      ignored: [],
      nested: ["a/b/", "data/r/", "node_modules/x/y/"],
      special: [],
      unreadable: [],
    });
  });

  test("sees what lies in folders whose names are no text, and what has such a name itself", async () => {
    const { root, scan } = aTree("data/seen.env");
    const bytes = (path: string) => Buffer.from(`${root}/${path}`, "latin1");
    for (const folder of ["data/in\xff", "out\xff", "seen\xfe/inner\xff/.git"]) {
      mkdirSync(bytes(folder), { recursive: true });
    }
    for (const file of ["data/in\xff/a.env", "data/b\xff.env", "out\xff/c.env"]) {
      writeFileSync(bytes(file), "x");
    }
    expect(await scan({ ignored: ["data/", "out\uFFFD/"] })).toEqual({
      ignored: ["data/b\uFFFD.env", "data/in\uFFFD/a.env", "data/seen.env", "out\uFFFD/c.env"],
      nested: ["seen\uFFFD/inner\uFFFD/"],
      special: [],
      unreadable: [],
    });
  });

  test("takes a bare repository that a package brings along for a part of it", async () => {
    const bare = (folder: string) => [`${folder}/HEAD`, `${folder}/objects/x`, `${folder}/refs/x`];
    const { scan } = aTree(...bare("node_modules/a/test/repo"), ...bare("data/repo"));
    expect((await scan({ ignored: ["node_modules/", "data/"] })).nested).toEqual(["data/repo/"]);
  });

  test("judges every ignored file by itself, in order", async () => {
    const { scan } = aTree("b.env", "data/2.txt", "data/1/x.txt", "dist/a.js", "dist/.env", "seen.txt");
    expect((await scan({ ignored: ["b.env", "data/", "dist/"] })).ignored).toEqual([
      "b.env",
      "data/1/x.txt",
      "data/2.txt",
      "dist/.env",
    ]);
  });

  test("a package that is a link is found when it leads out, wherever the tree is at the moment", async () => {
    const { root, scan } = aTree("packages/own/index.js", "node_modules/lib/index.js");
    symlinkSync("../packages/own", join(root, "node_modules", "own"));
    symlinkSync(join(root, "packages", "own"), join(root, "node_modules", "absolute"));
    mkdirSync(join(root, "node_modules", "@me"));
    symlinkSync("../../../elsewhere", join(root, "node_modules", "@me", "linked"));
    const ignored = ["node_modules/"];
    expect((await scan({ ignored })).ignored).toEqual(["node_modules/@me/linked"]);
    const aside = `${root}.held`;
    renameSync(root, aside);
    expect((await scan({ ignored, root: aside })).ignored).toEqual(["node_modules/@me/linked"]);
    renameSync(aside, root);
  });

  test("does not follow a link to a folder", async () => {
    const { root, scan } = aTree("data/x.txt");
    symlinkSync("/", join(root, "data", "root"));
    symlinkSync("/", join(root, "root"));
    expect(await scan({ ignored: ["data/"] })).toEqual({
      ignored: ["data/root", "data/x.txt"],
      nested: [],
      special: [],
      unreadable: [],
    });
  });

  test("says when there are too many folders to look through, and stops there", async () => {
    const { scan } = aTree(...Array.from({ length: 20 }, (_, at) => `node_modules/p${at}/x.js`));
    const report = await scan({ ignored: ["node_modules/"], maxFolders: 10 });
    expect(report.unreadable).toEqual([expect.stringContaining("more than 10 folders")]);
    expect((await scan({ ignored: ["node_modules/"], maxFolders: 22 })).unreadable).toEqual([]);
  });

  test("says what it could not look into", async () => {
    const { scan } = aTree("a/x");
    expect((await scan({ ignored: ["nosuch/"] })).unreadable).toEqual(["nosuch"]);
  });
});
