import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planBatch } from "../../../../src/lifecycle/spawn/batch-spawn.ts";
import { aProject } from "../../../support/builders.ts";
import { aWorld } from "../../../support/world.ts";

describe("a batch", () => {
  test("is spawned for no issue twice, nor for one with a live session, whatever the case", async () => {
    const world = aWorld();
    const { id } = await world.spawn({ issueId: "INT-1" });
    expect(await planBatch(world.deps, world.project.id, ["int-1", "Int-2", "INT-2", "3"])).toEqual({
      wanted: ["Int-2", "3"],
      skipped: [
        { issueId: "int-1", reason: "live_session", sessionId: id },
        { issueId: "INT-2", reason: "duplicate", sessionId: null },
      ],
    });
  });

  test("is spawned for an issue whose session is over, or that is another project's", async () => {
    const world = aWorld();
    const { id } = await world.spawn({ issueId: "1" });
    await world.kill(id);
    const other = aProject({ id: "other", repositoryPath: "/repo/other" });
    world.deps.store.insertProject(other);
    await world.spawn({ issueId: "2", project: other });
    const { wanted, skipped } = await planBatch(world.deps, world.project.id, ["1", "2"]);
    expect({ wanted, skipped }).toEqual({ wanted: ["1", "2"], skipped: [] });
  });

  test("says of every issue that was named either that it is wanted or why not", async () => {
    const world = aWorld();
    await world.spawn({ issueId: "a" });
    const issues = fc.array(fc.constantFrom("a", "A", "b", "B", "c"));
    await fc.assert(
      fc.asyncProperty(issues, async (named) => {
        const { wanted, skipped } = await planBatch(world.deps, world.project.id, named);
        expect([...wanted, ...skipped.map(({ issueId }) => issueId)].sort()).toEqual([...named].sort());
        expect(new Set(wanted.map((issue) => issue.toLowerCase())).size).toBe(wanted.length);
      }),
    );
  });
});
