import { describe, expect, test } from "vitest";
import { type AoErrorCode, isAoError } from "../../src/domain/errors.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import type { CreatedWorkspace, Workspace, WorkspaceSpec } from "../../src/ports/workspace.ts";

/** A workspace port and the world around it, as a test changes and sees it. */
export interface WorkspaceWorld {
  readonly workspace: Workspace;
  /** A spec inside the managed root; session `app-1` on branch `feat/1` when not told. */
  spec(patch?: Partial<WorkspaceSpec>): WorkspaceSpec;
  branches(): readonly string[];
  addBranch(name: string): void;
  removeBranch(name: string): void;
  /** Puts a commit on a branch. */
  moveBranch(name: string): void;
  exists(path: string): boolean;
  /** Puts something to lose into the workspace. */
  spoil(path: string): void;
  /** Takes it out again. */
  clean(path: string): void;
  /** Switches the workspace to another branch, made when there is none; `null` detaches it. */
  switchTo(path: string, branch: string | null): void;
  /** Removes the folder behind everybody's back. */
  vanish(path: string): void;
}

/** What every `Workspace` owes its callers. */
export function workspaceContract(name: string, open: () => WorkspaceWorld): void {
  describe(`${name} is a Workspace`, () => {
    test("the program behind it is there", async () => {
      expect((await open().workspace.check()).kind).toBe("ok");
    });

    describe("create", () => {
      test("makes the workspace and a branch that does not exist", async () => {
        const { workspace, spec, exists, branches } = open();
        const created = await make(workspace, spec());
        expect(created).toMatchObject({ path: spec().path, branch: "feat/1", branchCreated: true });
        expect(created.baseRef).toBe("main");
        expect(created.warnings).toEqual([]);
        expect(exists(created.path)).toBe(true);
        expect(branches()).toContain("feat/1");
      });

      test("uses a branch that exists as it is", async () => {
        const { workspace, spec, addBranch } = open();
        addBranch("feat/1");
        const created = await make(workspace, spec());
        expect(created).toMatchObject({ branch: "feat/1", branchCreated: false, baseRef: "feat/1" });
      });

      test("takes a free name beside a branch that has the one made up for the session", async () => {
        const { workspace, spec, addBranch, branches } = open();
        for (const name of ["session/app-1", "session/app-1-3"]) addBranch(name);
        const before = [...branches()];
        const madeUp = (number: number) => {
          const patch = { branch: "session/app-1", branchIsMadeUp: true };
          return number === 1 ? spec(patch) : other(spec, patch, number);
        };
        for (const [number, branch] of [
          [1, "session/app-1-2"],
          [2, "session/app-1-4"],
        ] as const) {
          const created = await make(workspace, madeUp(number));
          expect(created).toMatchObject({ branch, branchCreated: true, baseRef: "main" });
          expect(await workspace.undoCreate(madeUp(number), created)).toEqual([]);
          expect(branches()).toEqual(before);
          await make(workspace, madeUp(number));
          before.push(branch);
          before.sort();
        }
      });

      test.each([
        "",
        "-rf",
        "../x",
        "a..b",
        "a b",
        "x\ny",
        "$(touch x)",
        "a~b",
        "a^",
        "a:b",
        "@{-1}",
        "x.lock",
      ])("refuses %j as a branch name and leaves nothing", async (branch) => {
        const { workspace, spec, exists, branches } = open();
        const before = branches();
        await expectCode(make(workspace, spec({ branch })), "branch_invalid");
        expect(exists(spec().path)).toBe(false);
        expect(branches()).toEqual(before);
      });

      test("refuses a branch that another workspace has and names that one", async () => {
        const { workspace, spec, exists } = open();
        const { path } = await make(workspace, spec());
        const second = other(spec, { branch: "feat/1" });
        const error = await expectCode(make(workspace, second), "branch_in_use");
        expect(error.details["path"]).toBe(path);
        expect(exists(second.path)).toBe(false);
      });

      test("refuses a path where something is", async () => {
        const { workspace, spec, branches, exists } = open();
        await make(workspace, spec());
        await expectCode(make(workspace, spec({ branch: "feat/2" })), "workspace_exists");
        expect(branches()).not.toContain("feat/2");
        expect(exists(spec().path)).toBe(true);
      });

      test("refuses a path outside the managed root", async () => {
        const { workspace, spec, branches } = open();
        const before = branches();
        const path = "/elsewhere/app-1";
        await expectCode(make(workspace, spec({ path })), "workspace_unsafe_path");
        expect(branches()).toEqual(before);
      });

      test("many at once do not disturb each other", async () => {
        const { workspace, spec, exists } = open();
        const specs = Array.from({ length: 5 }, (_, at) => other(spec, { branch: `feat/${at}` }, at + 1));
        await Promise.all(specs.map((one) => make(workspace, one)));
        expect(specs.every(({ path }) => exists(path))).toBe(true);
      });
    });

    describe("survey", () => {
      test("is what is found, and the branch that stays", async () => {
        const { workspace, spec, spoil, switchTo } = open();
        const { path } = await make(workspace, spec());
        const nothing = { findings: [], ignoredWork: [], commits: [], stashes: [] };
        expect(await workspace.survey(spec())).toEqual({ ...nothing, branch: "feat/1" });
        spoil(path);
        const { findings } = await workspace.survey(spec());
        expect(findings).toHaveLength(1);
        expect(findings).toEqual(await workspace.inspect(spec()));
        switchTo(path, "feat/2");
        expect((await workspace.survey(spec())).branch).toBe("feat/2");
        switchTo(path, null);
        expect((await workspace.survey(spec())).branch).toBeNull();
      });

      test("of a workspace that is gone there is nothing", async () => {
        const { workspace, spec } = open();
        const nothing = { findings: [], ignoredWork: [], commits: [], stashes: [] };
        expect(await workspace.survey(spec())).toEqual({ ...nothing, branch: null });
      });

      test("one look at who uses the workspaces serves for many", async () => {
        const { workspace, spec } = open();
        const specs = [spec(), other(spec, { branch: "feat/2" })];
        for (const one of specs) await make(workspace, one);
        const seen = await workspace.users();
        for (const one of specs) {
          expect(await workspace.inspect(one, seen)).toEqual([]);
          expect((await workspace.survey(one, seen)).findings).toEqual([]);
        }
      });
    });

    describe("inspect", () => {
      test("finds nothing in a new workspace, nor in one that was freed", async () => {
        const { workspace, spec } = open();
        await make(workspace, spec());
        expect(await workspace.inspect(spec())).toEqual([]);
        await workspace.destroy(spec());
        expect(await workspace.inspect(spec())).toEqual([]);
      });

      test("misses one that somebody took from its place, which is never freed", async () => {
        const { workspace, spec, vanish } = open();
        await make(workspace, spec());
        vanish(spec().path);
        const missing = [expect.objectContaining({ kind: "missing", items: [spec().path] })];
        expect(await workspace.inspect(spec())).toEqual(missing);
        const { details } = await expectCode(
          workspace.destroy(spec(), undefined, async () => true),
          "workspace_dirty",
        );
        expect(details["findings"]).toEqual(missing);
      });

      test("finds what would be lost, and changes nothing", async () => {
        const { workspace, spec, spoil } = open();
        await make(workspace, spec());
        spoil(spec().path);
        const [finding] = await workspace.inspect(spec());
        expect(finding).toMatchObject({ kind: "untracked", count: 1 });
        expect(await workspace.inspect(spec())).toHaveLength(1);
      });
    });

    describe("destroy", () => {
      test("frees a workspace with nothing to lose and keeps its branch", async () => {
        const { workspace, spec, exists, branches } = open();
        await make(workspace, spec());
        await workspace.destroy(spec());
        expect(exists(spec().path)).toBe(false);
        expect(branches()).toContain("feat/1");
      });

      test("is idempotent", async () => {
        const { workspace, spec } = open();
        await workspace.destroy(spec());
        await make(workspace, spec());
        await workspace.destroy(spec());
        await expect(workspace.destroy(spec())).resolves.toBeUndefined();
      });

      test("refuses while something would be lost, says what, and goes on once it is saved", async () => {
        const { workspace, spec, spoil, clean, exists } = open();
        await make(workspace, spec());
        spoil(spec().path);
        const error = await expectCode(workspace.destroy(spec()), "workspace_dirty");
        expect(error.details["findings"]).toEqual(await workspace.inspect(spec()));
        expect(exists(spec().path)).toBe(true);
        clean(spec().path);
        await workspace.destroy(spec());
        expect(exists(spec().path)).toBe(false);
      });

      test("tells the branch that is checked out before anything is gone", async () => {
        const { workspace, spec, switchTo, exists } = open();
        await make(workspace, spec());
        switchTo(spec().path, "feat/other");
        const told: unknown[] = [];
        await workspace.destroy(spec(), (branch) => told.push([branch, exists(spec().path)]));
        await workspace.destroy(spec(), (branch) => told.push(branch));
        expect(told).toEqual([["feat/other", true]]);
      });

      test.each([
        ["no branch is checked out", (world: WorkspaceWorld) => world.switchTo(world.spec().path, null)],
        ["it is refused", (world: WorkspaceWorld) => world.spoil(world.spec().path)],
      ])("tells no branch when %s", async (_name, bringAbout) => {
        const world = open();
        await make(world.workspace, world.spec());
        bringAbout(world);
        const told: string[] = [];
        await world.workspace.destroy(world.spec(), (branch) => told.push(branch)).catch(() => undefined);
        expect(told).toEqual([]);
      });

      test("changes nothing when the branch cannot be put on record", async () => {
        const { workspace, spec, exists } = open();
        await make(workspace, spec());
        const refuse = () => {
          throw new Error("locked");
        };
        await expect(workspace.destroy(spec(), refuse)).rejects.toThrow("locked");
        expect(exists(spec().path)).toBe(true);
        expect(await workspace.inspect(spec())).toEqual([]);
      });

      test("changes nothing once the work is another process's", async () => {
        const { workspace, spec, exists } = open();
        await make(workspace, spec());
        const lost = () => {
          throw new Error("taken over");
        };
        await expect(workspace.destroy(spec(), undefined, undefined, lost)).rejects.toThrow("taken over");
        expect(exists(spec().path)).toBe(true);
        expect(await workspace.inspect(spec())).toEqual([]);
      });

      test("lets the branch be used anew", async () => {
        const { workspace, spec } = open();
        await make(workspace, spec());
        await workspace.destroy(spec());
        const created = await make(workspace, other(spec, { branch: "feat/1" }));
        expect(created.branchCreated).toBe(false);
      });
    });

    test.each(["inspect", "destroy", "restore"] as const)(
      "%s refuses the workspace of another session",
      async (method) => {
        const { workspace, spec, exists } = open();
        await make(workspace, spec());
        const stranger = spec({ sessionId: "app-9" as SessionId });
        const call = method === "restore" ? workspace.restore(stranger, null) : workspace[method](stranger);
        await expectCode(call, "workspace_unsafe_path");
        expect(exists(spec().path)).toBe(true);
      },
    );

    describe("restore", () => {
      test("takes a workspace that exists as it stands, work included", async () => {
        const { workspace, spec, spoil } = open();
        await make(workspace, spec());
        spoil(spec().path);
        const restored = await remake(workspace, spec());
        expect(restored).toMatchObject({ path: spec().path, branch: "feat/1", branchCreated: false });
        expect(await workspace.inspect(spec())).toHaveLength(1);
      });

      test("makes a freed one again from its branch", async () => {
        const { workspace, spec, exists } = open();
        await make(workspace, spec());
        await workspace.destroy(spec());
        const restored = await remake(workspace, spec());
        expect(restored).toMatchObject({ branch: "feat/1", branchCreated: false });
        expect(exists(spec().path)).toBe(true);
      });

      test("makes one whose folder was deleted again", async () => {
        const { workspace, spec, vanish, exists } = open();
        await make(workspace, spec());
        vanish(spec().path);
        const { warnings } = await remake(workspace, spec());
        expect(exists(spec().path)).toBe(true);
        expect(warnings).toEqual([expect.stringContaining("moved or deleted by somebody")]);
      });

      test("refuses when the branch is gone, and makes nothing", async () => {
        const { workspace, spec, removeBranch, exists } = open();
        await make(workspace, spec());
        await workspace.destroy(spec());
        removeBranch("feat/1");
        await expectCode(remake(workspace, spec()), "branch_missing");
        expect(exists(spec().path)).toBe(false);
      });

      test("makes the branch of kept work again where it stood, and says so", async () => {
        const { workspace, spec, removeBranch, branches } = open();
        const { baseCommit: commit } = await make(workspace, spec());
        await workspace.destroy(spec());
        removeBranch("feat/1");
        const restored = await remake(
          workspace,
          spec({ keptHead: { kind: "branch", branch: "feat/1", commit } }),
        );
        expect(restored).toMatchObject({ branch: "feat/1", branchCreated: true, baseCommit: commit });
        expect(restored.warnings).toEqual([expect.stringContaining("branch feat/1 was gone")]);
        expect(branches()).toContain("feat/1");
        expect(await workspace.undoCreate(spec(), restored)).toEqual([]);
        expect(branches()).not.toContain("feat/1");
      });

      test.each(["detached", "branch"] as const)(
        "stands on no branch where kept work did (%s)",
        async (kind) => {
          const { workspace, spec, removeBranch, branches, exists } = open();
          const { baseCommit: commit } = await make(workspace, spec());
          await workspace.destroy(spec());
          removeBranch("feat/1");
          const before = branches();
          const keptHead = kind === "branch" ? { kind, branch: "feat/1", commit: null } : { kind, commit };
          const plan = await workspace.planRestore(spec({ keptHead }));
          const restored = await workspace.restore(spec({ keptHead }), plan);
          expect(restored).toMatchObject({ branchCreated: false, baseCommit: commit });
          expect(restored.warnings).toEqual([expect.stringContaining("branch feat/1 is gone")]);
          expect([exists(spec().path), branches()]).toEqual([true, before]);
          expect((await workspace.survey(spec())).branch).toBeNull();
          expect(await workspace.inspect(spec())).toEqual([]);
          await workspace.destroy(spec());
          expect(branches()).toEqual(before);
        },
      );

      test("refuses when another workspace has the branch by now", async () => {
        const { workspace, spec } = open();
        await make(workspace, spec());
        await workspace.destroy(spec());
        const { path } = await make(workspace, other(spec, { branch: "feat/1" }));
        const error = await expectCode(remake(workspace, spec()), "branch_in_use");
        expect(error.details["path"]).toBe(path);
      });

      test("carries out what was planned: one made since is not taken for it", async () => {
        const { workspace, spec, exists, spoil } = open();
        await make(workspace, spec());
        await workspace.destroy(spec());
        const plan = await workspace.planRestore(spec());
        await remake(workspace, spec());
        spoil(spec().path);
        await expectCode(workspace.restore(spec(), plan), "workspace_exists");
        expect(exists(spec().path)).toBe(true);
        expect(await workspace.inspect(spec())).toHaveLength(1);
      });

      test("makes nothing anew that stood when it was planned", async () => {
        const { workspace, spec, exists } = open();
        await make(workspace, spec());
        expect(await workspace.planRestore(spec())).toBeNull();
        await workspace.destroy(spec());
        await expectCode(workspace.restore(spec(), null), "workspace_unsafe_path");
        expect(exists(spec().path)).toBe(false);
      });

      test("refuses when the branch is gone since it was planned, and makes nothing", async () => {
        const { workspace, spec, removeBranch, exists, branches } = open();
        await make(workspace, spec());
        await workspace.destroy(spec());
        const plan = await workspace.planRestore(spec());
        removeBranch("feat/1");
        await expectCode(workspace.restore(spec(), plan), "branch_missing");
        expect([exists(spec().path), branches().includes("feat/1")]).toEqual([false, false]);
      });
    });

    describe("undoCreate", () => {
      test("removes the workspace and the branch that was made for it", async () => {
        const { workspace, spec, exists, branches } = open();
        const before = branches();
        const created = await make(workspace, spec());
        expect(await workspace.undoCreate(spec(), created)).toEqual([]);
        expect(exists(spec().path)).toBe(false);
        expect(branches()).toEqual(before);
        expect(await workspace.undoCreate(spec(), created)).toEqual([]);
      });

      test("leaves a branch that existed before", async () => {
        const { workspace, spec, addBranch, branches } = open();
        addBranch("feat/1");
        await workspace.undoCreate(spec(), await make(workspace, spec()));
        expect(branches()).toContain("feat/1");
      });

      test("keeps a branch that was committed to, and names it", async () => {
        const { workspace, spec, moveBranch, exists, branches } = open();
        const created = await make(workspace, spec());
        moveBranch("feat/1");
        const kept = [{ branch: "feat/1", commits: 1 }];
        expect(await workspace.undoCreate(spec(), created)).toEqual(kept);
        expect(exists(spec().path)).toBe(false);
        expect(branches()).toContain("feat/1");
        expect(await workspace.undoCreate(spec(), created)).toEqual(kept);
      });

      test("names the branch that was checked out last when that one was committed to", async () => {
        const { workspace, spec, moveBranch, switchTo, branches } = open();
        const created = await make(workspace, spec());
        switchTo(created.path, "other");
        moveBranch("other");
        expect(await workspace.undoCreate(spec(), created)).toEqual([{ branch: "other", commits: 1 }]);
        expect(branches()).toContain("other");
        expect(branches()).not.toContain("feat/1");
      });

      test("names a branch that was there before when it was committed to", async () => {
        const { workspace, spec, addBranch, moveBranch } = open();
        addBranch("feat/1");
        const created = await make(workspace, spec());
        expect(await workspace.undoCreate(spec(), created)).toEqual([]);
        const again = await make(workspace, spec());
        moveBranch("feat/1");
        expect(await workspace.undoCreate(spec(), again)).toEqual([{ branch: "feat/1", commits: 1 }]);
      });

      test("refuses while something would be lost and keeps the branch as well", async () => {
        const { workspace, spec, spoil, exists, branches } = open();
        const created = await make(workspace, spec());
        spoil(spec().path);
        await expectCode(workspace.undoCreate(spec(), created), "workspace_dirty");
        expect(exists(spec().path)).toBe(true);
        expect(branches()).toContain("feat/1");
      });
    });
  });
}

/** Restores what is planned just then. */
async function remake(workspace: Workspace, spec: WorkspaceSpec): Promise<CreatedWorkspace> {
  return workspace.restore(spec, await workspace.planRestore(spec));
}

/** Plans and makes. */
async function make(workspace: Workspace, spec: WorkspaceSpec): Promise<CreatedWorkspace> {
  return workspace.create(spec, await workspace.plan(spec));
}

/** Another session of the same project. */
function other(spec: WorkspaceWorld["spec"], patch: Partial<WorkspaceSpec>, number = 2): WorkspaceSpec {
  const path = spec().path.replace(/app-1$/, `app-${number}`);
  return spec({ sessionId: `app-${number}` as SessionId, path, ...patch });
}

async function expectCode(promise: Promise<unknown>, code: AoErrorCode) {
  const error: unknown = await promise.catch((thrown: unknown) => thrown);
  if (!isAoError(error)) throw new Error(`expected ${code}, got ${String(error)}`, { cause: error });
  expect(error.code).toBe(code);
  return error;
}
