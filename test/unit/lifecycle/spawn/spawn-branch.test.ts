import { expect, test } from "vitest";
import { spawnSession } from "../../../../src/lifecycle/spawn/spawn-session.ts";
import { aSpawnRequest, aWorld } from "../../../support/world.ts";

const REPOSITORY = "/repo/app";

test.each([
  ["neither issue nor title", { issueId: null, title: null }],
  ["an issue of which nothing can be kept", { issueId: "🦄", title: null }],
])(
  "a session with %s never works on a branch that is there, of another data directory for one",
  async (_name, own) => {
    const world = aWorld();
    world.workspace.addBranch(REPOSITORY, "session/app-1");
    const { metadata } = await world.spawn({ branch: null, ...own });
    expect(metadata).toMatchObject({ branch: "session/app-1-2", baseRef: "main" });
    expect(world.workspace.branches(REPOSITORY)).toEqual(["session/app-1", "session/app-1-2"]);
  },
);

test.each([
  ["the branch of its issue", "feat/42", { branch: null, issueId: "42", title: null }],
  ["the branch that was asked for", "session/app-1", { branch: "session/app-1", issueId: null, title: null }],
])("a session works on %s as it is when it is there", async (_name, branch, asked) => {
  const world = aWorld();
  world.workspace.addBranch(REPOSITORY, branch);
  const { metadata } = await world.spawn(asked);
  expect(metadata).toMatchObject({ branch, baseRef: branch });
});

test.each([
  [
    "a-b",
    ["branch feat/a-b is the one of issue a..b (app-1) and goes on from there; --branch names another"],
  ],
  ["a..b", []],
])(
  "a session for %s says whose branch it goes on from when that was another issue's",
  async (issueId, warnings) => {
    const world = aWorld();
    const first = await world.spawn({ branch: null, issueId: "a..b", title: null });
    await world.kill(first.id);
    const { warnings: told } = await spawnSession(
      world.deps,
      aSpawnRequest(world.project, { branch: null, issueId, title: null }),
    );
    expect(told).toEqual(warnings);
  },
);
