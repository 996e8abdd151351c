import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { git } from "../support/ao.ts";
import { reconcileSchema } from "../support/json-schemas.ts";
import { aPlace, expectNeighbourUnharmed, type Place, SHELL } from "./crash-scenarios.ts";

const SUBJECT = "shop-2";
const SPAWN = ["spawn", "--branch", "subject", ...SHELL];
const KILL = ["kill", SUBJECT];
const RESTORE = ["restore", SUBJECT, "--fresh"];

const worktree = ({ ao }: Place, id = SUBJECT) => join(ao.dataDir, "worktrees", "shop", id);

/** Puts a file of a person into the worktree, whatever is there. */
function addFile(place: Place): void {
  mkdirSync(worktree(place), { recursive: true });
  writeFileSync(join(worktree(place), "mine.txt"), "mine\n");
}

const expectFile = (place: Place) =>
  expect(readFileSync(join(worktree(place), "mine.txt"), "utf8")).toBe("mine\n");

/** A branch of the name that a spawn wants, with a commit of a person. */
function addBranch({ repository }: Place): void {
  const commit = git(repository, "commit-tree", "-p", "main", "-m", "mine", "main^{tree}");
  git(repository, "branch", "subject", commit);
}

const expectBranch = ({ repository }: Place) =>
  expect(git(repository, "log", "-1", "--format=%s", "subject")).toBe("mine");

async function kill(place: Place, argv: readonly string[], boundary: string): Promise<void> {
  const env = { AO_FAULT_AT: boundary };
  expect((await place.ao.run(argv, { cwd: place.repository, env })).exitCode).toBeNull();
}

const reconcile = ({ ao }: Place) => ao.json(reconcileSchema, ["reconcile"]);

describe("what a person made between the death of a command and its recovery", () => {
  type Row = readonly [
    string,
    readonly (readonly string[])[],
    readonly string[],
    (p: Place) => void,
    (p: Place) => void,
  ];
  const spawned: readonly (readonly string[])[] = [SPAWN];
  const rows: readonly Row[] = [
    ["spawn.planned:after", [], SPAWN, addBranch, expectBranch],
    ["spawn.planned:after", [], SPAWN, addFile, expectFile],
    ["spawn.workspace.create:after", [], SPAWN, addFile, expectFile],
    ["spawn.created:after", [], SPAWN, addFile, expectFile],
    ["spawn.runtime.create:after", [], SPAWN, addFile, expectFile],
    ["kill.begin:after", spawned, KILL, addFile, expectFile],
    ["kill.ended:after", spawned, KILL, addFile, expectFile],
    ["restore.planned:after", [...spawned, KILL], RESTORE, addFile, expectFile],
    ["restore.workspace.restore:after", [...spawned, KILL], RESTORE, addFile, expectFile],
    ["restore.created:after", [...spawned, KILL], RESTORE, addFile, expectFile],
    ["cleanup.ended:after", [...spawned, [...KILL, "--keep-worktree"]], ["cleanup"], addFile, expectFile],
  ];

  test.each(rows)(
    "at %s stays, and nobody else's is touched",
    async (boundary, before, argv, make, check) => {
      const place = await aPlace();
      const { ao, repository } = place;
      for (const command of before) expect((await ao.run(command, { cwd: repository })).exitCode).toBe(0);
      await kill(place, argv, boundary);
      make(place);
      for (let times = 0; times < 2; times++) {
        expect((await reconcile(place)).errors).toEqual([]);
        check(place);
        expectNeighbourUnharmed(place);
      }
    },
  );
});
