import { describe, expect, test } from "vitest";
import { AoError } from "../../../src/domain/errors.ts";
import { type UndoStep, withUndo } from "../../../src/lifecycle/undo.ts";

const boom = new AoError("git_failed", "boom", { hint: "look", details: { output: "x" } });

/** A step that notes its undo in `log`, or fails to. */
function aStep(what: string, log: string[], overrides: Partial<UndoStep> = {}): UndoStep {
  return { what, where: `/${what}`, run: () => void log.push(what), ...overrides };
}

async function failing(steps: readonly UndoStep[], error: unknown = boom): Promise<unknown> {
  const work = async (undo: UndoStep[]) => {
    undo.push(...steps);
    throw error;
  };
  return withUndo(work).catch((thrown) => thrown);
}

describe("work with undo", () => {
  test("that succeeds keeps its steps", async () => {
    const log: string[] = [];
    const work = async (undo: UndoStep[]) => {
      undo.push(aStep("one", log));
      return 7;
    };
    expect(await withUndo(work)).toBe(7);
    expect(log).toEqual([]);
  });

  test("that fails takes its steps back, the last one first, and throws the same error", async () => {
    const log: string[] = [];
    expect(await failing([aStep("one", log), aStep("two", log)])).toBe(boom);
    expect(log).toEqual(["two", "one"]);
  });

  test("tells each step why", async () => {
    const causes: unknown[] = [];
    await failing([aStep("one", [], { run: (cause) => void causes.push(cause) })]);
    expect(causes).toEqual([boom]);
  });

  test("goes on after a step that stays, and names it in the first error", async () => {
    const log: string[] = [];
    const stays = aStep("two", log, { run: () => Promise.reject(new Error("in use")) });
    const error = await failing([aStep("one", log), stays, aStep("three", log)]);
    expect(log).toEqual(["three", "one"]);
    expect(error).toMatchObject({
      code: "git_failed",
      message: expect.stringMatching(/^boom; .*teardown_incomplete/),
      hint: "look; left for now, and taken back by the next command (ao reconcile): two /two",
      details: { output: "x", left: [{ what: "two", where: "/two", why: "in use" }] },
      cause: boom,
    });
  });

  test("leaves what stands under a guard alone while the guard is there", async () => {
    const log: string[] = [];
    const guard = aStep("two", log, { guardsEarlier: true, run: () => Promise.reject(new Error("alive")) });
    const error = await failing([aStep("one", log), guard, aStep("three", log)]);
    expect(log).toEqual(["three"]);
    expect(error).toMatchObject({
      details: {
        left: [
          { what: "two", why: "alive" },
          { what: "one", why: "two is still there" },
        ],
      },
    });
  });

  test("names each part of a step that stays", async () => {
    const parts = [
      { what: "worktree", where: "/w", why: "in use" },
      { what: "agent", where: "7", why: "it lives" },
    ];
    const stays = aStep("one", [], { parts: () => parts, run: () => Promise.reject(new Error("in use")) });
    expect(await failing([stays])).toMatchObject({
      hint: "look; left for now, and taken back by the next command (ao reconcile): worktree /w, agent 7",
      details: { left: parts },
    });
  });

  test("names what holds work with the way to see it, and never says to remove that", async () => {
    const kept = () => [
      { what: "branch", where: "feat/1", why: "it holds 1 commit", see: "git log" },
      { what: "worktree", where: "/w", why: "1 untracked file", see: "git status" },
    ];
    const error = await failing([aStep("one", [], { kept })]);
    expect(error).toMatchObject({
      code: "git_failed",
      message: "boom; kept for the work in it: branch feat/1, worktree /w",
      hint: "look; see what was done: git log; git status",
      details: { left: kept() },
    });
    const stays = aStep("two", [], { run: () => Promise.reject(new Error("in use")) });
    const mixed = await failing([aStep("one", [], { kept }), stays]);
    expect(mixed).toMatchObject({
      message: expect.stringMatching(
        /teardown_incomplete\); kept for the work in it: branch feat\/1, worktree \/w$/,
      ),
      hint: "look; left for now, and taken back by the next command (ao reconcile): two /two; see what was done: git log; git status",
    });
  });

  test("does not promise that nothing was changed while something is left", async () => {
    const unseen = new AoError("runtime_unavailable", "tmux did not answer", { details: { output: "x" } });
    const stays = aStep("one", [], { run: () => Promise.reject(new Error("in use")) });
    expect(await failing([aStep("one", [])], unseen)).toBe(unseen);
    expect(await failing([stays], unseen)).toMatchObject({
      code: "teardown_incomplete",
      message: expect.stringMatching(/^tmux did not answer; /),
      details: { code: "runtime_unavailable", output: "x", left: [{ what: "one" }] },
      cause: unseen,
    });
  });

  test("never hides an error it did not foresee", async () => {
    const bug = new TypeError("x is not a function");
    expect(await failing([aStep("one", [])], bug)).toBe(bug);
    const stays = aStep("one", [], { run: () => Promise.reject(new Error("in use")) });
    expect(await failing([stays], bug)).toMatchObject({
      code: "internal",
      message: expect.stringContaining("x is not a function"),
      cause: bug,
    });
  });
});
