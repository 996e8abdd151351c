import { describe, expect, test } from "vitest";
import { AoError } from "../../../src/domain/errors.ts";
import { FINDING_KINDS, type FindingKind } from "../../../src/domain/workspace-finding.ts";
import { adviceOn } from "../../../src/lifecycle/workspace-refusal.ts";
import { sessionId } from "../../support/builders.ts";
import { aWorld } from "../../support/world.ts";

const PATH = "/data/worktrees/app/app-1";
const COMMITTABLE: readonly FindingKind[] = ["changed", "staged", "untracked"];

function refusalFor(...kinds: readonly FindingKind[]): AoError {
  const findings = kinds.map((kind) => ({ kind, detail: kind, items: [], count: 1 }));
  return new AoError("workspace_dirty", "it is kept", { details: { findings } });
}

describe("the advice on a worktree that stays", () => {
  test.each(FINDING_KINDS)("because of %s fits that kind", (kind) => {
    const advice = adviceOn(refusalFor(kind), PATH);
    expect(advice).toContain(PATH);
    expect(advice.includes("commit what counts (the branch stays, pushed or not)")).toBe(
      COMMITTABLE.includes(kind),
    );
  });

  test("has one clause for each thing to do, however many kinds ask for it", () => {
    expect(adviceOn(refusalFor("changed", "untracked", "in_use"), PATH)).toBe(
      `in ${PATH}: commit what counts (the branch stays, pushed or not); end or move out what uses it`,
    );
  });

  test("that is not the session's own is to look, and to commit nothing", () => {
    const advice = adviceOn(new AoError("workspace_unsafe_path", "it is a symbolic link"), PATH);
    expect(advice).toBe(`look at what is there and move it away: ls -la ${PATH}`);
  });

  test("that somebody took from its place is a kill's as well, which frees nothing", async () => {
    const world = aWorld();
    const { id } = await world.spawn();
    world.workspace.vanish(PATH);
    await expect(world.kill(sessionId(id))).rejects.toMatchObject({
      code: "workspace_dirty",
      message: "session app-1 was terminated, its worktree was not freed: its folder is not there",
      hint: expect.stringMatching(
        /^if it was moved: .* worktree repair .*worktree prune; then: ao kill app-1$/,
      ),
      details: { workspaceFreed: false, workspacePath: PATH },
    });
    expect(world.row(id).metadata.workspaceFreedAtMs).toBeNull();
  });

  test("is the hint of the kill, with what to type afterwards", async () => {
    const world = aWorld();
    const { id } = await world.spawn();
    world.workspace.refuse(PATH, [
      { kind: "in_use", detail: "1 process in it", items: ["7 sleep"], count: 1 },
    ]);
    await expect(world.kill(sessionId(id))).rejects.toMatchObject({
      code: "workspace_dirty",
      hint: `in ${PATH}: end or move out what uses it; then: ao kill app-1`,
    });
  });
});
