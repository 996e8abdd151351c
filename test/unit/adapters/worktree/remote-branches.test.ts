import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SessionId } from "../../../../src/domain/ids.ts";
import { gitRepository, repositoryAt } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { failure, worktreeWorld } from "./worktree-world.ts";

describe("remotes", () => {
  function cloned() {
    const upstream = gitRepository();
    upstream.git("branch", "feat/remote");
    const path = join(tempDir("ao-clone"), "clone");
    upstream.git("clone", "-q", upstream.path, path);
    return { upstream, clone: repositoryAt(path) };
  }

  test("a branch that only the remote has becomes a local one, with no upstream set", async () => {
    const { clone } = cloned();
    const { workspace, spec } = worktreeWorld(clone);
    const config = clone.git("config", "--list", "--local");
    const created = await workspace.create(spec({ branch: "feat/remote" }));
    expect(created).toMatchObject({ branchCreated: true, baseRef: "origin/feat/remote" });
    expect(clone.git("config", "--list", "--local")).toBe(config);
  });

  test("origin goes before other remotes; several others are refused", async () => {
    const { upstream, clone } = cloned();
    clone.git("remote", "add", "fork", upstream.path);
    clone.git("fetch", "-q", "fork");
    const { workspace, spec } = worktreeWorld(clone);
    const created = await workspace.create(spec({ branch: "feat/remote" }));
    expect(created.baseRef).toBe("origin/feat/remote");

    clone.git("remote", "rename", "origin", "zeroth");
    upstream.git("branch", "feat/two");
    clone.git("fetch", "-q", "--all");
    const second = spec({ branch: "feat/two", sessionId: "app-2" as SessionId });
    const error = await failure(workspace.create(second), "branch_invalid");
    expect(error.details["candidates"]).toEqual(["fork/feat/two", "zeroth/feat/two"]);
  });

  test.each<[string, (world: ReturnType<typeof cloned>) => void, string]>([
    ["equal to the local one", () => undefined, "origin/main"],
    ["ahead of the local one", ({ upstream, clone }) => fetchNew(upstream, clone), "origin/main"],
    ["strictly behind the local one", ({ clone }) => void clone.commit("local.txt", "x"), "main"],
    [
      "apart from the local one",
      ({ upstream, clone }) => {
        clone.commit("local.txt", "x");
        fetchNew(upstream, clone);
      },
      "origin/main",
    ],
  ])("the default branch of origin, %s, gives the base", async (_name, arrange, baseRef) => {
    const world = cloned();
    arrange(world);
    const { workspace, spec } = worktreeWorld(world.clone);
    const created = await workspace.create(spec());
    expect(created.baseRef).toBe(baseRef);
    expect(created.baseCommit).toBe(world.clone.git("rev-parse", baseRef));
  });

  test("a name made up for a session is taken by a branch of any remote, and by a folder of branches", async () => {
    const { upstream, clone } = cloned();
    for (const name of ["session/app-1", "session/app-1-3/deep"]) upstream.git("branch", name);
    clone.git("fetch", "-q");
    clone.git("branch", "session/app-1-2");
    const { workspace, spec } = worktreeWorld(clone);
    const plan = await workspace.plan(spec({ branch: "session/app-1", branchIsMadeUp: true }));
    expect(plan).toMatchObject({ branch: "session/app-1-4", branchExists: false, baseRef: "origin/main" });
  });

  test("a remote that cannot be reached does not matter", async () => {
    const { clone } = cloned();
    clone.git("remote", "set-url", "origin", "file:///nope");
    const { workspace, spec } = worktreeWorld(clone);
    expect((await workspace.create(spec())).baseRef).toBe("origin/main");
  });

  function fetchNew(upstream: ReturnType<typeof gitRepository>, clone: ReturnType<typeof gitRepository>) {
    upstream.commit("remote.txt", "x");
    clone.git("fetch", "-q");
  }
});
