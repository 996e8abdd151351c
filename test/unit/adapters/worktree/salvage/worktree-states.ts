import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  emptyRepository,
  gitIn,
  gitRepository,
  type TestRepository,
  writeIn,
} from "../../../../support/git-repository.ts";
import { tempDir } from "../../../../support/temp-dir.ts";
import { POSITIONS, UNDER_WAY } from "./states-of-git.ts";
import type { StatePlace, WorktreeState } from "./worktree-state.ts";

const CHANGED = "one\ntwo and a half\nthree\n";

/** A path in the worktree whose name need not be UTF-8. */
function bytes({ path }: StatePlace, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${path}/`), name]);
}

const basic: readonly WorktreeState[] = [
  { name: "a changed file", build: (w) => w.write("tracked.txt", CHANGED) },
  {
    name: "a staged change",
    build(w) {
      w.write("tracked.txt", CHANGED);
      w.git("add", ".");
    },
  },
  {
    name: "a staged change that was changed again",
    build(w) {
      w.write("tracked.txt", CHANGED);
      w.git("add", ".");
      w.write("tracked.txt", "again\n");
    },
  },
  {
    name: "a staged change that was taken back in the file",
    build(w) {
      w.write("tracked.txt", CHANGED);
      w.git("add", ".");
      w.write("tracked.txt", "one\ntwo\nthree\n");
    },
  },
  { name: "a deleted file", build: (w) => rmSync(join(w.path, "tracked.txt")) },
  { name: "a folder of deleted files", build: (w) => rmSync(join(w.path, "folder"), { recursive: true }) },
  { name: "a staged deletion", build: (w) => w.git("rm", "-q", "tracked.txt") },
  { name: "a file that git was told to forget", build: (w) => w.git("rm", "-q", "--cached", "tracked.txt") },
  {
    name: "a new file that is staged",
    build(w) {
      w.write("new.txt", "new\n");
      w.git("add", ".");
    },
  },
  {
    name: "a new file that is staged and deleted",
    build(w) {
      w.write("new.txt", "new\n");
      w.git("add", ".");
      rmSync(join(w.path, "new.txt"));
    },
  },
  {
    name: "a file that is to be added",
    build(w) {
      w.write("new.txt", "new\n");
      w.git("add", "--intent-to-add", "new.txt");
    },
  },
  {
    name: "a file that is to be added and was deleted",
    build(w) {
      w.write("new.txt", "new\n");
      w.git("add", "--intent-to-add", "new.txt");
      rmSync(join(w.path, "new.txt"));
    },
  },
  {
    name: "untracked files in new folders",
    build(w) {
      w.write("notes.txt", "mine\n");
      w.write("a/b/c.txt", "c\n");
      w.write("folder/next.txt", "next\n");
    },
  },
  {
    name: "ignored files that are worth keeping, beside some that are not",
    ignored: [".env", "logs/"],
    lost: ["node_modules", "x.log"],
    build(w) {
      w.write(".env", "SECRET=1\n");
      w.write("logs/a.log", "a\n");
      w.write("logs/deep/b.log", "b\n");
      w.write("x.log", "x\n");
      w.write("node_modules/m/index.js", "m\n");
    },
  },
  {
    name: "a tracked file that a pattern ignores, changed",
    build(w) {
      w.write("kept.log", "one\n");
      w.git("add", "-f", "kept.log");
      w.git("commit", "-qm", "log");
      w.write("kept.log", "two\n");
    },
  },
  {
    name: "a staged rename",
    build(w) {
      w.git("mv", "tracked.txt", "renamed.txt");
    },
  },
  {
    name: "a rename that git does not know",
    build: (w) => renameSync(join(w.path, "folder"), join(w.path, "renamed")),
  },
  {
    name: "empty files and a big one",
    build(w) {
      w.write("empty.txt", "");
      w.write("big.bin", "x");
      truncateSync(join(w.path, "big.bin"), 40_000_000);
      w.write("also.bin", "y".repeat(3_000_000));
    },
  },
];

const modes: readonly WorktreeState[] = [
  {
    name: "modes of files, staged and not",
    build(w) {
      chmodSync(join(w.path, "tracked.txt"), 0o755);
      w.git("update-index", "--chmod=-x", "run.sh");
      w.git("update-index", "--chmod=+x", "folder/deep.txt");
      w.write("new.sh", "#!/bin/sh\n");
      chmodSync(join(w.path, "new.sh"), 0o755);
    },
  },
  {
    name: "permissions that git does not know",
    ignored: [".env"],
    build(w) {
      w.write(".env", "SECRET=1\n");
      chmodSync(join(w.path, ".env"), 0o600);
      w.write("private/key.txt", "key\n");
      chmodSync(join(w.path, "private/key.txt"), 0o400);
      chmodSync(join(w.path, "private"), 0o700);
      chmodSync(join(w.path, "folder/deep.txt"), 0o640);
      chmodSync(join(w.path, "folder"), 0o500);
    },
  },
  {
    name: "modes that git was told not to look at",
    build(w) {
      w.git("config", "core.fileMode", "false");
      chmodSync(join(w.path, "tracked.txt"), 0o755);
      w.write("new.txt", "new\n");
    },
  },
  {
    name: "links: new, staged, changed, to a folder, and to nowhere",
    build(w) {
      symlinkSync("tracked.txt", join(w.path, "staged-link"));
      w.git("add", ".");
      symlinkSync("folder", join(w.path, "folder-link"));
      symlinkSync("/nowhere/at all", join(w.path, "dangling"));
      rmSync(join(w.path, "tracked.txt"));
      symlinkSync("folder/deep.txt", join(w.path, "tracked.txt"));
    },
  },
  {
    name: "a file where a folder was",
    build(w) {
      rmSync(join(w.path, "folder"), { recursive: true });
      w.write("folder", "a file\n");
    },
  },
  {
    name: "a folder where a file was, staged",
    build(w) {
      rmSync(join(w.path, "tracked.txt"));
      w.write("tracked.txt/inner.txt", "inner\n");
      w.git("add", "-A", ".");
      w.write("tracked.txt/other.txt", "other\n");
    },
  },
  {
    name: "a link where a folder was, to one with the same files",
    build(w) {
      renameSync(join(w.path, "folder"), join(w.path, "moved"));
      symlinkSync("moved", join(w.path, "folder"));
    },
  },
  {
    name: "a folder where a link was",
    build(w) {
      symlinkSync("folder", join(w.path, "link"));
      w.git("add", ".");
      w.git("commit", "-qm", "link");
      rmSync(join(w.path, "link"));
      w.write("link/file.txt", "file\n");
    },
  },
  {
    name: "empty folders",
    build(w) {
      mkdirSync(join(w.path, "empty/inner/most"), { recursive: true });
      mkdirSync(join(w.path, "folder/empty"));
      mkdirSync(join(w.path, "half/empty"), { recursive: true });
      w.write("half/full.txt", "full\n");
    },
  },
  {
    name: "names of all kinds",
    build(w) {
      for (const name of ["line\nfeed", "tab\t", ' "quoted" ', "back\\slash", "-dash", "*", "cr\r"]) {
        w.write(`odd/${name}`, `${name}\n`);
      }
      w.write("ünïcode/e\u0301", "nfd\n");
      writeFileSync(bytes(w, Buffer.from([0x6c, 0xff, 0xfe, 0x0a])), "no utf-8\n");
      w.git("add", "odd");
      w.write("git~1", "what a Windows might take for .git\n");
      writeFileSync(bytes(w, Buffer.from("odd/\xe9", "latin1")), "latin-1\n");
    },
  },
  {
    name: "ignored files whose names are no text",
    ignored: ["\uFFFD.log"],
    build: (w) => writeFileSync(bytes(w, Buffer.from("\xe9.log", "latin1")), "latin-1\n"),
  },
];

const index: readonly WorktreeState[] = [
  {
    name: "files that git was told not to look at",
    build(w) {
      w.git("update-index", "--assume-unchanged", "tracked.txt");
      w.git("update-index", "--skip-worktree", "folder/deep.txt", "folder/other.txt", "run.sh");
      w.write("tracked.txt", CHANGED);
      w.write("folder/deep.txt", "hidden change\n");
      rmSync(join(w.path, "folder/other.txt"));
    },
  },
  {
    name: "a sparse checkout with changes",
    build(w) {
      w.write("apart/one.txt", "one\n");
      w.git("add", ".");
      w.git("commit", "-qm", "apart");
      w.git("sparse-checkout", "set", "folder");
      w.write("folder/deep.txt", "changed\n");
      w.write("notes.txt", "mine\n");
    },
  },
  {
    name: "a sparse checkout with a sparse index",
    build(w) {
      w.write("apart/one.txt", "one\n");
      w.git("add", ".");
      w.git("commit", "-qm", "apart");
      w.git("sparse-checkout", "set", "--cone", "--sparse-index", "folder");
      w.write("folder/deep.txt", "changed\n");
      w.git("add", "folder");
    },
  },
  {
    name: "an index in two files",
    build(w) {
      w.git("update-index", "--split-index");
      w.write("new.txt", "new\n");
      w.git("add", ".");
      w.write("tracked.txt", CHANGED);
    },
  },
  {
    name: "an index of version 4 with what git remembers for speed",
    build(w) {
      w.git("update-index", "--index-version", "4", "--untracked-cache");
      w.write("new.txt", "new\n");
      w.git("add", ".");
      w.write("notes.txt", "mine\n");
    },
  },
  {
    name: "no index",
    build(w) {
      rmSync(join(w.git("rev-parse", "--absolute-git-dir"), "index"));
      w.write("notes.txt", "mine\n");
    },
  },
];

const conversions: readonly WorktreeState[] = [
  {
    name: "line ends that git takes for unchanged",
    build(w) {
      w.write(".gitattributes", "*.txt text=auto\n");
      w.git("add", ".");
      w.git("commit", "-qm", "attributes");
      w.write("tracked.txt", "one\r\ntwo\r\nthree\r\n");
      w.git("add", ".");
      w.write("mixed.txt", "one\r\ntwo\n");
      w.git("-c", "core.safecrlf=false", "add", ".");
    },
  },
  {
    name: "line ends by configuration",
    build(w) {
      w.git("config", "core.autocrlf", "true");
      w.write("tracked.txt", "one\r\ntwo\nthree\r\n");
      w.write("new.txt", "new\r\n");
      w.git("-c", "core.safecrlf=false", "add", ".");
      w.write("notes.txt", "mine\r\n");
    },
  },
  {
    name: "a filter that loses something on the way in",
    build(w) {
      w.git("config", "filter.upper.clean", "tr a-z A-Z");
      w.git("config", "filter.upper.smudge", "cat");
      w.write(".gitattributes", "*.up filter=upper\n");
      w.write("committed.up", "committed\n");
      w.git("add", ".");
      w.git("commit", "-qm", "filter");
      w.write("staged.up", "Staged\n");
      w.git("add", ".");
      w.write("untracked.up", "Untracked\n");
    },
  },
  {
    name: "expanded ids and another encoding",
    build(w) {
      w.write(".gitattributes", "*.id ident\n*.u16 working-tree-encoding=UTF-16LE\n");
      w.write("a.id", "$Id$\n");
      w.git("add", ".");
      w.git("commit", "-qm", "ids");
      rmSync(join(w.path, "a.id"));
      w.git("checkout", "-q", "--", "a.id");
      writeFileSync(join(w.path, "b.u16"), Buffer.from("wide\n", "utf16le"));
      w.git("add", ".");
      w.write("notes.txt", "$Id: mine $\n");
    },
  },
];

function withSubmodule(): TestRepository {
  const inner = gitRepository();
  const repository = gitRepository();
  repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.path, "sub");
  repository.git("commit", "-qm", "sub");
  return repository;
}

const repositories: readonly WorktreeState[] = [
  {
    name: "a submodule without work beside changes",
    repository: withSubmodule,
    build: (w) => w.write("tracked.txt", CHANGED),
  },
  {
    name: "empty folders where tracked files were",
    build(w) {
      rmSync(join(w.path, "folder"), { recursive: true });
      mkdirSync(join(w.path, "folder", "deep.txt", "deeper"), { recursive: true });
      rmSync(join(w.path, "run.sh"));
      mkdirSync(join(w.path, "run.sh"));
    },
  },
  {
    name: "an empty folder whose tracked files are gone",
    build(w) {
      rmSync(join(w.path, "folder"), { recursive: true });
      mkdirSync(join(w.path, "folder"));
    },
  },
  {
    name: "a submodule that was removed",
    repository: withSubmodule,
    build(w) {
      w.git("rm", "-q", "sub");
      w.write("sub/file.txt", "mine\n");
    },
  },
  {
    name: "a folder of a submodule with files of somebody in it",
    repository: withSubmodule,
    build: (w) => w.write("sub/file.txt", "mine\n"),
  },
  {
    name: "a repository inside",
    build(w) {
      emptyRepository(join(w.path, "inner"));
      writeIn(join(w.path, "inner"), "a.txt", "a\n");
      gitIn(join(w.path, "inner"), "add", ".");
      gitIn(join(w.path, "inner"), "commit", "-qm", "a");
      writeIn(join(w.path, "inner"), "b.txt", "b\n");
    },
  },
  {
    name: "a repository inside that was added by mistake",
    // git writes it anew whenever it is asked for the status of the outer one.
    lost: ["inner/.git/index"],
    build(w) {
      gitRepository(join(w.path, "inner"));
      w.git("-c", "advice.addEmbeddedRepo=false", "add", ".");
      writeIn(join(w.path, "inner"), "b.txt", "b\n");
    },
  },
  {
    name: "a repository of the other hash",
    repository() {
      const path = join(tempDir("ao-repository"), "repo");
      mkdirSync(path);
      gitIn(path, "init", "-q", "-b", "main", "--object-format=sha256");
      return gitRepository(path);
    },
    build(w) {
      w.write("tracked.txt", CHANGED);
      w.git("add", ".");
      w.write("notes.txt", "mine\n");
      rmSync(join(w.path, "run.sh"));
    },
  },
];

/** Each is something to keep. */
export const STATES: readonly WorktreeState[] = [
  ...basic,
  ...modes,
  ...UNDER_WAY,
  ...POSITIONS,
  ...index,
  ...conversions,
  ...repositories,
];
