import { describe, expect, test } from "vitest";
import { checkpointRef } from "../../src/domain/checkpoint.ts";
import { type AoError, type AoErrorCode, isAoError } from "../../src/domain/errors.ts";
import type { SessionId, TurnId } from "../../src/domain/ids.ts";
import { type SalvageReason, salvageRef } from "../../src/domain/salvage.ts";
import type { Snapshots } from "../../src/ports/snapshots.ts";
import type { Workspace, WorkspaceRef } from "../../src/ports/workspace.ts";

/**
 * A snapshots port with a workspace in which `readme.md` and `.gitignore` are committed. `.env` is ignored and
 * work, `node_modules/` ignored and none.
 */
export interface SnapshotsWorld {
  readonly snapshots: Snapshots;
  /** The port of the workspaces. */
  readonly workspaces: Workspace;
  readonly workspace: WorkspaceRef;
  /** The workspace of another session in the same repository. */
  other(): Promise<WorkspaceRef>;
  /** Writes a file of a workspace, or removes it with `null`. */
  write(file: string, content: string | null, workspace?: WorkspaceRef): void;
  stage(file: string): void;
  /** All files of the workspace. */
  files(): Readonly<Record<string, string>>;
  /** Paths that are staged, sorted. */
  staged(): readonly string[];
  /** Removes the workspace with all that is in it. */
  remove(): void;
  /** Makes it again, from its branch. */
  makeAnew(): Promise<void>;
  /** Makes a pipe and a socket of these names in the workspace. */
  addSpecial(pipe: string, socket: string): Promise<void>;
  /** Puts something into the workspace that no salvage can hold. */
  spoil(): void;
}

const AT_MS = 1_700_000_000_000;
const TURN = "turn-1" as TurnId;
const LATER = "turn-2" as TurnId;

/** What every `Snapshots` owes its callers. */
export function snapshotsContract(name: string, open: () => Promise<SnapshotsWorld>): void {
  describe(`${name} is a Snapshots`, () => {
    salvageContract(open);
    putBackContract(open);
    listContract(open);
    checkpointContract(open);
    rewindContract(open);
    sharingContract(open);
    freeingContract(open);
  });
}

type Open = () => Promise<SnapshotsWorld>;

/** Keeps what is in the workspace, which has to be something. */
async function keep(
  { snapshots, workspace }: SnapshotsWorld,
  reason: SalvageReason = "kill",
): Promise<string> {
  const outcome = await snapshots.salvage({ workspace, reason, atMs: AT_MS });
  if (outcome.kind !== "kept") throw new Error("nothing was kept");
  return outcome.ref;
}

async function failure(promise: Promise<unknown>, code: AoErrorCode): Promise<AoError> {
  const error: unknown = await promise.catch((thrown: unknown) => thrown);
  if (!isAoError(error)) throw new Error(`expected ${code}, got ${JSON.stringify(error)}`, { cause: error });
  expect(error.code, error.message).toBe(code);
  return error;
}

function salvageContract(open: Open): void {
  describe("salvage", () => {
    test("finds nothing in a workspace that is as its branch, nor in what comes back by itself", async () => {
      const { snapshots, workspace, write } = await open();
      const request = { workspace, reason: "kill", atMs: AT_MS } as const;
      expect(await snapshots.salvage(request)).toEqual({ kind: "nothing" });
      write("node_modules/m.js", "m\n");
      expect(await snapshots.salvage(request)).toEqual({ kind: "nothing" });
    });

    test("finds nothing where no workspace is", async () => {
      const { snapshots, workspace, remove } = await open();
      remove();
      const request = { workspace, reason: "kill", atMs: AT_MS } as const;
      expect(await snapshots.salvage(request)).toEqual({ kind: "nothing" });
    });

    test("counts from 1 in each session, and leaves the workspace as it is", async () => {
      const world = await open();
      const { snapshots, write, stage, files, staged } = world;
      write("notes.txt", "mine\n");
      write("readme.md", "changed\n");
      stage("readme.md");
      const before = files();
      expect(await keep(world)).toBe("refs/ao/salvage/app-1/1");
      expect(files()).toEqual(before);
      expect(staged()).toEqual(["readme.md"]);
      write("notes.txt", "more\n");
      expect(await keep(world)).toBe("refs/ao/salvage/app-1/2");
      const other = await world.other();
      write("notes.txt", "theirs\n", other);
      const request = { workspace: other, reason: "kill", atMs: AT_MS } as const;
      expect(await snapshots.salvage(request)).toMatchObject({ ref: "refs/ao/salvage/app-2/1" });
    });

    test("keeps the same state once", async () => {
      const world = await open();
      world.write("notes.txt", "mine\n");
      const first = await keep(world);
      expect(await keep(world, "cleanup")).toBe(first);
      expect(await world.snapshots.list(world.workspace.repositoryPath)).toHaveLength(1);
    });

    test("keeps nothing when there is something that it cannot hold, and says what", async () => {
      const { snapshots, workspace, write, spoil } = await open();
      write("notes.txt", "mine\n");
      expect(await snapshots.obstacles(workspace)).toEqual([]);
      spoil();
      const request = { workspace, reason: "kill", atMs: AT_MS } as const;
      const obstacles = await snapshots.obstacles(workspace);
      expect(obstacles).toHaveLength(1);
      const error = await failure(snapshots.salvage(request), "workspace_dirty");
      expect(error.details).toMatchObject({
        unkeepable: obstacles,
        findings: [{ kind: "unreadable", count: 1 }],
      });
      expect(error.details).toMatchObject({
        unkeepable: [{ path: expect.any(String), why: expect.any(String) }],
      });
      expect(await snapshots.list(workspace.repositoryPath)).toEqual([]);
    });
  });

  describe("holds", () => {
    test("tells whether all that is there now was kept", async () => {
      const world = await open();
      const { snapshots, workspace, write, remove } = world;
      write("notes.txt", "mine\n");
      const ref = await keep(world);
      expect(await snapshots.holds({ workspace, ref })).toBe(true);
      write(".env", "SECRET=1\n");
      expect(await snapshots.holds({ workspace, ref })).toBe(false);
      write(".env", null);
      write("node_modules/m.js", "m\n");
      expect(await snapshots.holds({ workspace, ref })).toBe(true);
      write("notes.txt", "more\n");
      expect(await snapshots.holds({ workspace, ref })).toBe(false);
      remove();
      expect(await snapshots.holds({ workspace, ref })).toBe(true);
      await failure(snapshots.holds({ workspace, ref: "refs/ao/salvage/app-1/9" }), "salvage_not_found");
    });
  });
}

function putBackContract(open: Open): void {
  describe("putBack", () => {
    /** A world with work of all kinds, kept, and the workspace made again. */
    async function kept() {
      const world = await open();
      const { write, stage, files, staged, remove, makeAnew } = world;
      write("notes.txt", "mine\n");
      write("staged.txt", "staged\n");
      stage("staged.txt");
      write("readme.md", "changed\n");
      write(".env", "SECRET=1\n");
      const before = { files: files(), staged: staged() };
      const ref = await keep(world);
      remove();
      await makeAnew();
      return { ...world, ref, before };
    }

    test("brings back all of it, and does so once", async () => {
      const { snapshots, workspace, ref, before, files, staged } = await kept();
      expect(files()).not.toEqual(before.files);
      const report = await snapshots.putBack({ workspace, ref });
      expect(report.files).toBeGreaterThan(0);
      expect({ files: files(), staged: staged() }).toEqual(before);
      expect(await snapshots.putBack({ workspace, ref })).toEqual({ files: 0 });
      expect(await snapshots.holds({ workspace, ref })).toBe(true);
    });

    test("makes a pipe again, empty, and names the socket that it cannot make", async () => {
      const world = await open();
      const { snapshots, workspace, addSpecial, remove, makeAnew } = world;
      await addSpecial("pipe", "socket");
      const ref = await keep(world);
      const [pipe, socket] = [
        { path: "pipe", kind: "pipe" } as const,
        { path: "socket", kind: "socket" } as const,
      ];
      expect(await snapshots.holds({ workspace, ref })).toBe(true);
      expect(await snapshots.show(workspace.repositoryPath, ref)).toMatchObject({
        files: [],
        special: [pipe, socket],
      });
      remove();
      await makeAnew();
      for (const _again of [1, 2]) {
        expect(await snapshots.putBack({ workspace, ref })).toEqual({ files: 0, missing: [socket] });
      }
      const left = await keep(world);
      expect((await snapshots.show(workspace.repositoryPath, left)).special).toEqual([pipe]);
    });

    test("leaves everything as it is when one file is in the way", async () => {
      const { snapshots, workspace, ref, write, files, staged } = await kept();
      write("notes.txt", "somebody else's\n");
      const before = files();
      const error = await failure(snapshots.putBack({ workspace, ref }), "salvage_conflict");
      expect(error.details).toMatchObject({ conflicts: [{ path: "notes.txt" }] });
      expect(files()).toEqual(before);
      expect(staged()).toEqual([]);
    });

    test("leaves an index in which something is staged", async () => {
      const { snapshots, workspace, ref, write, stage } = await kept();
      write("theirs.txt", "theirs\n");
      stage("theirs.txt");
      const error = await failure(snapshots.putBack({ workspace, ref }), "salvage_conflict");
      expect(error.details).toMatchObject({ conflicts: [{ path: "index" }] });
    });

    test("leaves files that are not of it", async () => {
      const { snapshots, workspace, ref, write, files } = await kept();
      write("theirs.txt", "theirs\n");
      await snapshots.putBack({ workspace, ref });
      expect(files()).toMatchObject({ "theirs.txt": "theirs\n", "notes.txt": "mine\n" });
    });

    test("needs a salvage that is there, and a workspace", async () => {
      const { snapshots, workspace, ref, remove } = await kept();
      const none = "refs/ao/salvage/app-1/7";
      await failure(snapshots.putBack({ workspace, ref: none }), "salvage_not_found");
      remove();
      await failure(snapshots.putBack({ workspace, ref }), "git_failed");
    });
  });
}

function listContract(open: Open): void {
  describe("list, show and drop", () => {
    test("tell of each salvage when it was made and why, in order", async () => {
      const world = await open();
      const { snapshots, workspace, write } = world;
      const { repositoryPath } = workspace;
      expect(await snapshots.list(repositoryPath)).toEqual([]);
      for (let round = 1; round <= 3; round += 1) {
        write("notes.txt", `${round}\n`);
        await keep(world, "by_hand");
      }
      const other = await world.other();
      write("notes.txt", "theirs\n", other);
      await snapshots.salvage({ workspace: other, reason: "cleanup", atMs: AT_MS + 1 });
      const all = await snapshots.list(repositoryPath);
      expect(all.map(({ ref }) => ref.slice("refs/ao/salvage/".length))).toEqual([
        ...Array.from({ length: 3 }, (_, at) => `app-1/${at + 1}`),
        "app-2/1",
      ]);
      expect(all.at(-1)).toMatchObject({ sessionId: "app-2", number: 1, reason: "cleanup", atMs: AT_MS + 1 });
      expect(all[0]).toMatchObject({
        reason: "by_hand",
        atMs: AT_MS,
        head: { kind: "branch", branch: "feat/1" },
      });
      expect(await snapshots.list(repositoryPath, "app-2" as SessionId)).toHaveLength(1);
      expect(await snapshots.list(repositoryPath, "app-3" as SessionId)).toEqual([]);
    });

    test("show what had become of each file", async () => {
      const world = await open();
      const { snapshots, workspace, write, stage } = world;
      write("readme.md", "changed\n");
      write("untracked.txt", "12345");
      write("staged.txt", "staged\n");
      stage("staged.txt");
      write(".env", "SECRET=1\n");
      const ref = await keep(world);
      const shown = await snapshots.show(workspace.repositoryPath, ref);
      expect(shown).toMatchObject({ ref, number: 1, operations: [], commits: [] });
      expect(shown.files).toEqual([
        { path: ".env", kind: "ignored", bytes: 9 },
        { path: "readme.md", kind: "changed", bytes: 8 },
        { path: "staged.txt", kind: "staged", bytes: 7 },
        { path: "untracked.txt", kind: "untracked", bytes: 5 },
      ]);
      await failure(snapshots.show(workspace.repositoryPath, "refs/ao/salvage/app-1/2"), "salvage_not_found");
      await failure(snapshots.show(workspace.repositoryPath, "refs/heads/main"), "salvage_not_found");
    });

    test("give one up, twice as well, and no other, and no work gets its number", async () => {
      const world = await open();
      const { snapshots, workspace, write } = world;
      const { repositoryPath } = workspace;
      write("notes.txt", "mine\n");
      const first = await keep(world);
      write("notes.txt", "more\n");
      await keep(world);
      await snapshots.drop(repositoryPath, first);
      await snapshots.drop(repositoryPath, first);
      expect((await snapshots.list(repositoryPath)).map(({ number }) => number)).toEqual([2]);
      write("notes.txt", "again\n");
      expect(await keep(world)).toBe("refs/ao/salvage/app-1/3");
      for (const number of [2, 3])
        await snapshots.drop(repositoryPath, salvageRef(workspace.sessionId, number));
      write("notes.txt", "other work\n");
      expect(await keep(world)).toBe("refs/ao/salvage/app-1/4");
    });
  });
}

function checkpointContract(open: Open): void {
  describe("take", () => {
    test("keeps the files of one end of a turn, and the first of them stands", async () => {
      const { snapshots, workspace, write, files } = await open();
      write("notes.txt", "mine\n");
      const before = files();
      const first = await snapshots.take(workspace, TURN, "end");
      expect(first).toMatchObject({ ref: "refs/ao/checkpoints/app-1/turn-1" });
      expect(files()).toEqual(before);
      write("notes.txt", "more\n");
      expect(await snapshots.take(workspace, TURN, "end")).toEqual(first);
      const second = await snapshots.take(workspace, LATER, "start");
      expect(second?.ref).toBe("refs/ao/checkpoints/app-1/turn-2.start");
      expect(second?.commit).not.toBe(first?.commit);
      const found = await snapshots.checkpoints(workspace.repositoryPath, workspace.sessionId);
      expect(found.map(({ turnId, edge }) => `${turnId} ${edge}`).sort()).toEqual([
        "turn-1 end",
        "turn-2 start",
      ]);
    });

    test("is the same commit while nothing changed, whatever is ignored", async () => {
      const { snapshots, workspace, write } = await open();
      write("notes.txt", "mine\n");
      const first = await snapshots.take(workspace, TURN, "end");
      write(".env", "SECRET=1\n");
      write("node_modules/m.js", "m\n");
      const second = await snapshots.take(workspace, LATER, "start");
      expect(second?.commit).toBe(first?.commit);
    });

    test("keeps nothing where no workspace is", async () => {
      const { snapshots, workspace, remove } = await open();
      remove();
      expect(await snapshots.take(workspace, TURN, "end")).toBeNull();
    });

    test("taken anew keeps the files of now, over those of an earlier one", async () => {
      const { snapshots, workspace, write } = await open();
      const { repositoryPath, sessionId } = workspace;
      write("notes.txt", "one\n");
      const older = await snapshots.take(workspace, TURN, "start", { isAnew: true });
      expect(await snapshots.take(workspace, TURN, "start", { isAnew: true })).toEqual(older);
      write("notes.txt", "two\n");
      const newer = await snapshots.take(workspace, TURN, "start", { isAnew: true });
      expect(newer).toMatchObject({ ref: older?.ref });
      const changed = { since: newer?.commit ?? "", now: { workspace } };
      expect(await snapshots.changes(repositoryPath, changed)).toEqual([]);
      expect(await snapshots.checkpoints(repositoryPath, sessionId)).toMatchObject([
        { ref: newer?.ref, commit: newer?.commit },
      ]);
    });

    test("is forgotten alone, once as well as twice, also where no workspace is any more", async () => {
      const { snapshots, workspace, remove } = await open();
      await snapshots.take(workspace, TURN, "start");
      await snapshots.take(workspace, TURN, "end");
      remove();
      await snapshots.forget(workspace, TURN, "start");
      await snapshots.forget(workspace, TURN, "start");
      const left = await snapshots.checkpoints(workspace.repositoryPath, workspace.sessionId);
      expect(left.map(({ edge }) => edge)).toEqual(["end"]);
    });
  });
}

function sharingContract(open: Open): void {
  const FORK = "app-9" as SessionId;

  describe("adopt", () => {
    test("keeps a checkpoint for another session too, also when its own is given up", async () => {
      const { snapshots, workspace, write } = await open();
      write("notes.txt", "one\n");
      const taken = await snapshots.take(workspace, TURN, "end");
      const as = { sessionId: FORK, turnId: TURN };
      const { repositoryPath } = workspace;
      const adopted = await snapshots.adopt(repositoryPath, taken?.ref ?? "", as);
      expect(adopted).toEqual({ ref: checkpointRef(FORK, TURN, "end"), commit: taken?.commit });
      expect(await snapshots.adopt(repositoryPath, taken?.ref ?? "", as)).toEqual(adopted);
      await snapshots.forget(workspace, TURN, "end");
      const kept = await snapshots.checkpoints(repositoryPath, FORK);
      expect(kept).toMatchObject([{ ...as, edge: "end", commit: taken?.commit }]);
    });

    test("needs a checkpoint that is there, and a name that no other commit has", async () => {
      const { snapshots, workspace, write } = await open();
      const { repositoryPath } = workspace;
      const as = { sessionId: FORK, turnId: TURN };
      const missing = snapshots.adopt(repositoryPath, checkpointRef(FORK, LATER, "end"), as);
      await failure(missing, "checkpoint_not_found");
      const first = await snapshots.take(workspace, TURN, "end");
      write("notes.txt", "one\n");
      const second = await snapshots.take(workspace, LATER, "end");
      await snapshots.adopt(repositoryPath, first?.ref ?? "", as);
      await failure(snapshots.adopt(repositoryPath, second?.ref ?? "", as), "checkpoint_not_found");
    });
  });

  describe("changes", () => {
    test("names what differs, of the files as they are and of a commit, ignored ones left out", async () => {
      const { snapshots, workspace, write } = await open();
      const { repositoryPath } = workspace;
      const since = (await snapshots.take(workspace, TURN, "end"))?.commit ?? "";
      write("notes.txt", "one\ntwo\n");
      write("readme.md", null);
      write(".env", "secret\n");
      const differs = [
        { path: "notes.txt", kind: "added", insertions: 2, deletions: 0 },
        { path: "readme.md", kind: "deleted", insertions: 0, deletions: 1, content: null },
      ];
      expect(await snapshots.changes(repositoryPath, { since, now: { workspace } })).toMatchObject(differs);
      const commit = (await snapshots.take(workspace, LATER, "end"))?.commit ?? "";
      expect(await snapshots.changes(repositoryPath, { since, now: { commit } })).toMatchObject(differs);
      expect(await snapshots.changes(repositoryPath, { since: commit, now: { workspace } })).toEqual([]);
    });

    test("are none of a workspace that is gone, and an error of a commit that is", async () => {
      const { snapshots, workspace, remove } = await open();
      const { repositoryPath } = workspace;
      const since = (await snapshots.take(workspace, TURN, "end"))?.commit ?? "";
      remove();
      expect(await snapshots.changes(repositoryPath, { since, now: { workspace } })).toBeNull();
      const now = { commit: "c".repeat(40) };
      await failure(snapshots.changes(repositoryPath, { since, now }), "checkpoint_not_found");
    });
  });
}

function rewindContract(open: Open): void {
  describe("rewind", () => {
    /** A turn's end, and then more work. */
    async function worked() {
      const world = await open();
      const { snapshots, workspace, write, files } = world;
      write("notes.txt", "mine\n");
      write("readme.md", "changed\n");
      const before = files();
      const taken = await snapshots.take(workspace, TURN, "end");
      write("notes.txt", null);
      write("readme.md", "spoilt\n");
      write("later.txt", "later\n");
      write(".env", "SECRET=1\n");
      return { ...world, before, checkpointRef: taken?.ref ?? "" };
    }

    test("makes the files those of the checkpoint; ignored ones stay", async () => {
      const world = await worked();
      const { snapshots, workspace, checkpointRef: ref, before, files } = world;
      const request = { workspace, checkpointRef: ref, salvageRef: await keep(world, "rewind") };
      expect(await snapshots.rewind(request)).toEqual({ files: 3 });
      expect(files()).toEqual({ ...before, ".env": "SECRET=1\n" });
      expect(await snapshots.rewind(request)).toEqual({ files: 0 });
    });

    test("leaves everything as it is when something was not kept", async () => {
      const world = await worked();
      const { snapshots, workspace, checkpointRef: ref, write, files } = world;
      const held = await keep(world, "rewind");
      write("later.txt", "later still\n");
      const before = files();
      const request = { workspace, checkpointRef: ref, salvageRef: held };
      const error = await failure(snapshots.rewind(request), "salvage_conflict");
      expect(error.details).toMatchObject({ conflicts: [{ path: "later.txt" }] });
      expect(files()).toEqual(before);
      await failure(snapshots.rewind({ ...request, salvageRef: null }), "salvage_conflict");
    });

    test("needs no salvage while the branch has everything", async () => {
      const world = await worked();
      const { snapshots, workspace, checkpointRef: ref, before, files, remove, makeAnew } = world;
      remove();
      await makeAnew();
      await snapshots.rewind({ workspace, checkpointRef: ref, salvageRef: null });
      expect(files()).toEqual(before);
    });

    test("needs a checkpoint and a salvage that are there", async () => {
      const { snapshots, workspace, checkpointRef: ref } = await worked();
      const none = checkpointRef(workspace.sessionId, LATER, "end");
      const request = { workspace, checkpointRef: ref, salvageRef: "refs/ao/salvage/app-1/4" };
      await failure(snapshots.rewind(request), "salvage_not_found");
      const missing = { workspace, checkpointRef: none, salvageRef: null };
      await failure(snapshots.rewind(missing), "checkpoint_not_found");
    });
  });
}

function freeingContract(open: Open): void {
  describe("a workspace whose work is kept", () => {
    test("is freed when all of it is, and comes back with it", async () => {
      const world = await open();
      const { snapshots, workspaces, workspace, write, files, makeAnew } = world;
      write("notes.txt", "mine\n");
      write(".env", "SECRET=1\n");
      const before = files();
      const ref = await keep(world);
      await failure(workspaces.destroy(workspace), "workspace_dirty");
      await workspaces.destroy(workspace, undefined, () => snapshots.holds({ workspace, ref }));
      expect(files()).toEqual({});
      await makeAnew();
      await snapshots.putBack({ workspace, ref });
      expect(files()).toEqual(before);
    });

    test("stays when something of it is not, and nothing of it is changed", async () => {
      const world = await open();
      const { snapshots, workspaces, workspace, write, files } = world;
      write("notes.txt", "mine\n");
      const ref = await keep(world);
      write("notes.txt", "more\n");
      const before = files();
      const isKept = () => snapshots.holds({ workspace, ref });
      await failure(workspaces.destroy(workspace, undefined, isKept), "workspace_dirty");
      expect(files()).toEqual(before);
    });

    test("stays when nobody can tell", async () => {
      const { snapshots, workspaces, workspace, write, files } = await open();
      write("notes.txt", "mine\n");
      const before = files();
      const isKept = () => snapshots.holds({ workspace, ref: "refs/ao/salvage/app-1/1" });
      await failure(workspaces.destroy(workspace, undefined, isKept), "salvage_not_found");
      expect(files()).toEqual(before);
    });
  });
}
