import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { pictureOf, type SalvageWorld, salvageWorld } from "./salvage-world.ts";

const NAMES = [
  "tracked.txt",
  "folder/deep.txt",
  "folder",
  "a",
  "a/b",
  "a/b/c.sh",
  ' odd\n"name"',
  ".env",
  "x.log",
];

type Step =
  | { readonly kind: "write"; readonly name: string; readonly content: string }
  | { readonly kind: "link"; readonly name: string; readonly target: string }
  | { readonly kind: "remove" | "folder" | "run"; readonly name: string }
  | { readonly kind: keyof typeof COMMANDS; readonly name: string }
  | { readonly kind: "rename"; readonly name: string; readonly to: string }
  | { readonly kind: "git"; readonly args: readonly string[] };

const name = fc.constantFrom(...NAMES);
const content = fc.constantFrom("", "one\n", "one\ntwo\n", "one\r\ntwo\r\n", "\0binary", "one\ntwo\nthree\n");
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("write"), name, content }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("link"), name, target: name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("rename"), name, to: name }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom("remove", "folder", "run", "add", "intend", "unstage", "forget"),
      name,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("git"),
      args: fc.constantFrom(
        ["add", "-A"],
        ["commit", "-qm", "step"],
        ["commit", "-q", "--allow-empty", "-m", "empty"],
        ["commit", "-q", "--amend", "-m", "amended"],
        ["checkout", "-q", "--detach"],
        ["reset", "-q", "--hard", "HEAD~1"],
        ["reset", "-q", "--soft", "HEAD~1"],
        ["merge", "-q", "other"],
        ["cherry-pick", "other"],
        ["rebase", "-q", "other"],
        ["revert", "--no-edit", "HEAD"],
        ["stash", "-q", "-u"],
        ["update-index", "--assume-unchanged", "tracked.txt"],
        ["update-index", "--skip-worktree", "folder/deep.txt"],
      ),
    }),
  },
) as fc.Arbitrary<Step>;

/** What the file system or git does not allow just now is no step. */
function take(world: SalvageWorld, one: Step): void {
  try {
    takeStep(world, one);
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error)) throw error;
  }
}

function takeStep(world: SalvageWorld, one: Step): void {
  const at = (path: string) => join(world.path, path);
  switch (one.kind) {
    case "write":
      world.write(one.name, one.content);
      break;
    case "link":
      symlinkSync(one.target, at(one.name));
      break;
    case "rename":
      mkdirSync(dirname(at(one.to)), { recursive: true });
      renameSync(at(one.name), at(one.to));
      break;
    case "remove":
      rmSync(at(one.name), { recursive: true });
      break;
    case "folder":
      mkdirSync(at(one.name), { recursive: true });
      break;
    case "run":
      if (lstatSync(at(one.name)).isFile()) chmodSync(at(one.name), 0o755);
      break;
    case "git":
      world.tryGit(...one.args);
      break;
    case "add":
    case "intend":
    case "unstage":
    case "forget":
      world.tryGit(...COMMANDS[one.kind], "--", one.name);
      break;
  }
}

const COMMANDS = {
  add: ["add", "-f"],
  intend: ["add", "-N"],
  unstage: ["reset", "-q"],
  forget: ["rm", "-rq", "--cached"],
} as const;

test("whatever was done in a worktree, its salvage brings back", async () => {
  const world = salvageWorld();
  const { repository } = world;
  repository.git("checkout", "-q", "-b", "other");
  repository.commit("tracked.txt", "other\n");
  repository.git("checkout", "-q", "main");
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      run += 1;
      const branch = `run/${run}`;
      world.makeAnew(["-b", branch, "main"]);
      for (const one of steps) take(world, one);
      const before = pictureOf(world.path, ["x.log"]);
      const head = world.git("rev-parse", "HEAD").trim();
      const kept = await world.salvage([".env", ...ignoredIn(world)]);
      world.makeAnew(kept.kind === "kept" ? [branch] : ["--detach", head]);
      if (kept.kind === "kept") await world.putBack(kept.commit);
      const leftOut = leftOutIn(before);
      const after = pictureOf(world.path, ["x.log"]);
      expect(workOf(after, kept.kind, leftOut)).toEqual(workOf(before, kept.kind, leftOut));
    }),
    { numRuns: 20, endOnFailure: true },
  );
}, 120_000);

/** Ignored files that count, wherever a link has led what was written. */
function ignoredIn(world: SalvageWorld): readonly string[] {
  const listed = world.git("ls-files", "-z", "--others", "--ignored", "--exclude-standard").split("\0");
  return listed.filter((path) => path !== "" && path !== "x.log");
}

/** Where HEAD stands, empty folders, and what git was told of files that are as they were: none of it is work. */
function workOf(picture: ReturnType<typeof pictureOf>, kind: "kept" | "nothing", leftOut: readonly string[]) {
  if (kind === "kept") return picture;
  const files = picture.files.filter((line) => !leftOut.some((path) => line.startsWith(`${path} `)));
  return { status: picture.status, files: files.filter((line) => !/ folder \d+$/.test(line)) };
}

/** Tracked files that git was told to leave out, as a sparse checkout tells it (git-ls-files(1), `-v`). */
function leftOutIn({ index }: ReturnType<typeof pictureOf>): readonly string[] {
  const lines = index.split("\0").filter((line) => /^[Ss] /.test(line));
  return lines.map((line) => line.slice(line.indexOf("\t") + 1));
}
