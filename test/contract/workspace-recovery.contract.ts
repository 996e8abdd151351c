import { describe, expect, test } from "vitest";
import { AoError, isAoError } from "../../src/domain/errors.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import type { Workspace, WorkspacePlan, WorkspaceSpec } from "../../src/ports/workspace.ts";
import { operationId } from "../support/operations.ts";
import type { WorkspaceWorld } from "./workspace.contract.ts";

/** A workspace port and what interrupted runs and other people do to it. */
export interface RecoveryWorld extends WorkspaceWorld {
  /** Leaves what a `create` that was killed in the middle leaves: branch and folder, without its mark. */
  breakOff(spec: WorkspaceSpec, plan: WorkspacePlan): Promise<void>;
  /** Puts a commit on a branch. */
  moveBranch(name: string): void;
  /** Leaves files of a removed workspace to be deleted. */
  leaveTrash(): void;
}

const ONE = operationId(1);
const OTHER = operationId(2);

/** What every `Workspace` owes to those who carry on after a crash. */
export function workspaceRecoveryContract(name: string, open: () => RecoveryWorld): void {
  const start = async () => {
    const world = open();
    const before = world.branches();
    const spec = world.spec({ operationId: ONE });
    return { ...world, spec, plan: await world.workspace.plan(spec), before, anySpec: world.spec };
  };

  describe(`${name} after an interruption`, () => {
    describe("plan", () => {
      test("says what would be made, in plain JSON, and makes nothing", async () => {
        const { workspace, spec, plan, exists, branches, before } = await start();
        expect(plan).toEqual({
          ...{ operationId: ONE, path: spec.path, branch: "feat/1", branchExists: false, baseRef: "main" },
          baseCommit: expect.stringMatching(/^[0-9a-f]{40}$/),
          warnings: [],
        });
        expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
        expect(await workspace.plan(spec)).toEqual(plan);
        expect([exists(spec.path), branches()]).toEqual([false, before]);
      });

      test("knows a branch that is there", async () => {
        const world = open();
        world.addBranch("feat/1");
        const plan = await world.workspace.plan(world.spec());
        expect(plan).toMatchObject({ branchExists: true, baseRef: "feat/1", operationId: null });
      });

      test("is what the making keeps to: a branch that came since is not taken over", async () => {
        const { workspace, spec, plan, addBranch, exists } = await start();
        addBranch("feat/1");
        await expect(workspace.create(spec, plan)).rejects.toMatchObject({ code: "branch_in_use" });
        expect(exists(spec.path)).toBe(false);
      });
    });

    describe("discard", () => {
      test("takes back what was made, what was half made and what was not, and that again", async () => {
        const { workspace, spec, plan, exists, branches, before, breakOff } = await start();
        await workspace.discard(spec, plan);
        expect(branches()).toEqual(before);
        for (const make of [() => workspace.create(spec, plan), () => breakOff(spec, plan)]) {
          await make();
          expect(exists(spec.path)).toBe(true);
          await workspace.discard(spec, plan);
          await workspace.discard(spec, plan);
          expect([exists(spec.path), branches()]).toEqual([false, before]);
        }
      });

      test("refuses what was made and worked in since, and leaves its branch", async () => {
        const { workspace, spec, plan, exists, branches, before, spoil, clean } = await start();
        const { path } = await workspace.create(spec, plan);
        spoil(path);
        const discarding = workspace.discard(spec, plan);
        await expect(discarding).rejects.toMatchObject({
          code: "workspace_dirty",
          details: { findings: [expect.objectContaining({ kind: "untracked" })] },
        });
        expect([exists(path), branches()]).toEqual([true, expect.arrayContaining(["feat/1"])]);
        clean(path);
        await workspace.discard(spec, plan);
        expect([exists(path), branches()]).toEqual([false, before]);
      });

      test("leaves a branch that was there before, and one that has moved since", async () => {
        const { workspace, anySpec, addBranch, moveBranch, branches } = await start();
        addBranch("old");
        const [old, moved] = [
          numbered(anySpec, 2, { branch: "old" }),
          numbered(anySpec, 3, { branch: "moved" }),
        ];
        const plans = [await workspace.plan(old), await workspace.plan(moved)] as const;
        await workspace.create(old, plans[0]);
        await workspace.create(moved, plans[1]);
        moveBranch("moved");
        await workspace.discard(old, plans[0]);
        await workspace.discard(moved, plans[1]);
        expect(branches()).toEqual(expect.arrayContaining(["moved", "old"]));
      });

      test("leaves a branch that another made in the meantime", async () => {
        const { workspace, spec, plan, addBranch, branches } = await start();
        addBranch("feat/1");
        await workspace.discard(spec, plan);
        expect(branches()).toContain("feat/1");
      });

      test.each([
        ["another operation", { operationId: OTHER }],
        ["no operation", { operationId: null }],
        ["another session", { sessionId: "app-9" as SessionId }],
      ])("leaves what %s made, with its branch", async (_who, patch) => {
        const { workspace, spec, plan, anySpec, exists, branches } = await start();
        const theirs = anySpec({ operationId: ONE, ...patch });
        await workspace.create(theirs, await workspace.plan(theirs));
        await expect(workspace.discard(spec, plan)).rejects.toMatchObject({ code: "workspace_unsafe_path" });
        expect(exists(spec.path)).toBe(true);
        expect(branches()).toContain("feat/1");
      });
    });

    describe("a making that became another's by then", () => {
      const lost = new AoError("operation_in_progress", "another process has it");
      const fence = () => {
        throw lost;
      };

      test("makes neither branch nor workspace", async () => {
        const { workspace, spec, plan, exists, branches } = await start();
        const before = branches();
        await expect(workspace.create({ ...spec, fence }, plan)).rejects.toBe(lost);
        expect([exists(spec.path), branches()]).toEqual([false, before]);
      });

      test("brings no workspace back", async () => {
        const { workspace, spec, plan, anySpec, exists, branches } = await start();
        await workspace.create(spec, plan);
        await workspace.destroy(spec);
        const before = branches();
        const again = anySpec({ operationId: OTHER });
        const restorePlan = await workspace.planRestore(again);
        await expect(workspace.restore({ ...again, fence }, restorePlan)).rejects.toBe(lost);
        expect([exists(spec.path), branches()]).toEqual([false, before]);
      });
    });

    describe("what is half made", () => {
      test.each(["inspect", "destroy", "restore", "planRestore"] as const)(
        "is refused by %s and stays",
        async (method) => {
          const { workspace, spec, plan, exists, breakOff } = await start();
          await breakOff(spec, plan);
          const error: unknown = await callOf(workspace, method, spec).catch((thrown: unknown) => thrown);
          expect(isAoError(error) && error.code).toBe("workspace_unsafe_path");
          expect(exists(spec.path)).toBe(true);
        },
      );
    });

    describe("planRestore", () => {
      test("is nothing while the workspace stands", async () => {
        const { workspace, spec, plan } = await start();
        await workspace.create(spec, plan);
        expect(await workspace.planRestore(spec)).toBeNull();
      });

      test("is what a restore makes from the branch, and enough to take that back", async () => {
        const { workspace, spec, plan, anySpec, exists, branches } = await start();
        await workspace.create(spec, plan);
        await workspace.destroy(spec);
        const again = anySpec({ operationId: OTHER });
        const restorePlan = await workspace.planRestore(again);
        expect(restorePlan).toMatchObject({ operationId: OTHER, branchExists: true, baseRef: "feat/1" });
        expect(exists(spec.path)).toBe(false);
        await workspace.restore(again, restorePlan);
        if (restorePlan !== null) await workspace.discard(again, restorePlan);
        expect(exists(spec.path)).toBe(false);
        expect(branches()).toContain("feat/1");
      });

      test("refuses as restore does", async () => {
        const { workspace, spec, plan, removeBranch } = await start();
        await workspace.create(spec, plan);
        await workspace.destroy(spec);
        removeBranch("feat/1");
        await expect(workspace.planRestore(spec)).rejects.toMatchObject({ code: "branch_missing" });
      });
    });

    describe("marked", () => {
      test("is empty at first", async () => {
        expect(await open().workspace.marked()).toEqual([]);
      });

      test("lists every workspace with who made it, those that nobody can judge with why", async () => {
        const { workspace, spec, plan, anySpec, breakOff } = await start();
        await workspace.create(spec, plan);
        const half = numbered(anySpec, 2, { branch: "feat/2", operationId: OTHER });
        await breakOff(half, await workspace.plan(half));
        const found = await workspace.marked();
        const refOf = ({ projectId, sessionId, path }: WorkspaceSpec) => ({ projectId, sessionId, path });
        expect(found).toMatchObject([
          { ref: refOf(spec), operationId: ONE, createdAtMs: expect.any(Number), flaw: null },
          { ref: refOf(half), operationId: OTHER, createdAtMs: null, flaw: expect.any(String) },
        ]);
        expect(found[0]?.ref.repositoryPath).toBe(spec.repositoryPath);
      });

      test("has refs with which a workspace is freed, and then lists it no more", async () => {
        const { workspace, spec, plan } = await start();
        await workspace.create(spec, plan);
        for (const { ref } of await workspace.marked()) await workspace.destroy(ref);
        expect(await workspace.marked()).toEqual([]);
      });
    });

    test("what interrupted removals left is deleted and counted once", async () => {
      const { workspace, leaveTrash } = open();
      expect((await workspace.sweepTrash()).deleted).toBe(0);
      leaveTrash();
      leaveTrash();
      expect((await workspace.sweepTrash()).deleted).toBe(2);
      expect((await workspace.sweepTrash()).deleted).toBe(0);
    });
  });
}

function numbered(
  spec: WorkspaceWorld["spec"],
  number: number,
  patch: Partial<WorkspaceSpec>,
): WorkspaceSpec {
  const path = spec().path.replace(/app-1$/, `app-${number}`);
  return spec({ operationId: ONE, sessionId: `app-${number}` as SessionId, path, ...patch });
}

type OnRef = "inspect" | "destroy" | "restore" | "planRestore";

function callOf(workspace: Workspace, method: OnRef, spec: WorkspaceSpec): Promise<unknown> {
  return method === "restore" ? workspace.restore(spec, null) : workspace[method](spec);
}
