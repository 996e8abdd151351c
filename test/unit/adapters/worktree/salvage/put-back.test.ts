import { describe, expect, test } from "vitest";
import { gitFilesOf, pictureOf, salvageWorld } from "./salvage-world.ts";
import { STATES } from "./worktree-states.ts";

describe("a salvage changes nothing, and comes back whole, of", () => {
  test.each(STATES.map((state) => [state.name, state] as const))("%s", async (_name, state) => {
    const world = salvageWorld({
      ...(state.repository && { repository: state.repository() }),
      ...(state.endsOn && { anewOn: state.endsOn }),
    });
    state.build(world);
    const before = pictureOf(world.path, state.lost);
    const git = gitFilesOf(world);
    const kept = await world.salvage(state.ignored);
    if (kept.kind !== "kept") throw new Error("nothing was kept");
    expect(gitFilesOf(world)).toEqual(git);
    expect(pictureOf(world.path, state.lost)).toEqual(before);

    world.makeAnew();
    world.forgetLoose();
    await world.putBack(kept.commit);
    expect(pictureOf(world.path, state.lost)).toEqual(before);
    expect(await world.putBack(kept.commit)).toEqual({ files: 0 });
  });
});
