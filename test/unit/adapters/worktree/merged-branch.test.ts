import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { BranchQuery } from "../../../../src/ports/workspace-facts.ts";
import { gitIn, gitRepository, writeIn } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { anOperationId, worktreeWorld } from "./worktree-world.ts";

/** A session's worktree with a commit on its branch, which is not merged yet. */
async function opened() {
  const world = worktreeWorld(gitRepository());
  const { workspace, repository } = world;
  const operationId = anOperationId();
  const spec = world.spec({ operationId });
  const { path } = await workspace.create(spec);
  const commit = (file: string) => {
    writeIn(path, file, `${file}\n`);
    gitIn(path, "add", "--", file);
    gitIn(path, "commit", "-qm", `add ${file}`);
    return gitIn(path, "rev-parse", "HEAD");
  };
  commit("a.txt");
  const query: BranchQuery = { branch: "feat/1", madeBy: [operationId], defaultBranch: "main" };
  const merge = () => void repository.git("merge", "-q", "--no-ff", "-m", "merge", "feat/1");
  return { ...world, spec, path, repository, query, commit, merge };
}

type Opened = Awaited<ReturnType<typeof opened>>;

const tip = ({ repository }: Opened) => repository.git("rev-parse", "feat/1");

describe("a branch goes when it is proven merged", () => {
  test.each<[string, (it: Opened) => void, string]>([
    ["into the default branch", ({ merge }) => merge(), "refs/heads/main"],
    [
      "by a fast-forward",
      ({ repository }) => repository.git("merge", "-q", "--ff-only", "feat/1"),
      "refs/heads/main",
    ],
    [
      "into what the default branch is pulled from",
      (it) => {
        const { repository } = it;
        repository.git("update-ref", "refs/remotes/up/trunk", tip(it));
        repository.git("config", "branch.main.remote", "up");
        repository.git("config", "branch.main.merge", "refs/heads/trunk");
        repository.git("config", "remote.up.url", "/nowhere");
        repository.git("config", "remote.up.fetch", "+refs/heads/*:refs/remotes/up/*");
      },
      "refs/remotes/up/trunk",
    ],
    [
      "into the same branch of origin",
      (it) => void it.repository.git("update-ref", "refs/remotes/origin/main", tip(it)),
      "refs/remotes/origin/main",
    ],
  ])("%s; no other ref moves", async (_how, merge, into) => {
    const it = await opened();
    const { workspace, spec, query, repository } = it;
    merge(it);
    const proven = await workspace.mergedBranch(spec, query);
    expect(proven).toEqual({ branch: "feat/1", commit: tip(it), into });
    await workspace.destroy(spec);
    const refs = repository.git("for-each-ref").split("\n");
    expect(proven && (await workspace.deleteMerged(spec, query, proven))).toBe(true);
    const left = refs.filter((ref) => !ref.endsWith("refs/heads/feat/1"));
    expect(repository.git("for-each-ref").split("\n")).toEqual(left);
    expect(proven && (await workspace.deleteMerged(spec, query, proven))).toBe(true);
    const branchCommit = proven?.commit ?? "";
    const restored = await workspace.restore({ ...spec, branchCommit });
    expect(restored).toMatchObject({ branch: "feat/1", branchCreated: true, baseCommit: branchCommit });
    expect(tip(it)).toBe(branchCommit);
  });
});

test("a branch goes that is merged into the default branch which the repository alone tells", async () => {
  const it = await opened();
  const { workspace, spec, merge } = it;
  const query = { ...it.query, defaultBranch: null };
  merge();
  const proven = await workspace.mergedBranch(spec, query);
  expect(proven).toMatchObject({ branch: "feat/1", into: "refs/heads/main" });
  await workspace.destroy(spec);
  expect(proven && (await workspace.deleteMerged(spec, query, proven))).toBe(true);
  expect(it.repository.git("branch", "--list", "feat/1")).toBe("");
});

describe("a branch stays", () => {
  test.each<[string, (it: Opened) => void, Partial<BranchQuery>?]>([
    ["when it is not merged", () => undefined],
    [
      "when it was only squash-merged",
      ({ repository }) => {
        repository.git("merge", "-q", "--squash", "feat/1");
        repository.git("commit", "-qm", "squashed");
      },
    ],
    ["when another operation made it", ({ merge }) => merge(), { madeBy: [anOperationId()] }],
    [
      "when it was made anew under the same name",
      ({ merge, repository, path }) => {
        merge();
        gitIn(path, "checkout", "-q", "--detach");
        repository.git("branch", "-D", "feat/1");
        repository.git("branch", "feat/1", "main");
      },
    ],
    [
      "when another worktree has it",
      ({ merge, repository, path }) => {
        merge();
        gitIn(path, "checkout", "-q", "--detach");
        repository.git("worktree", "add", "-q", join(tempDir("ao-other"), "other"), "feat/1");
      },
    ],
    [
      "when a rebase of it is under way elsewhere",
      ({ merge, repository, path }) => {
        merge();
        gitIn(path, "checkout", "-q", "--detach");
        writeIn(join(repository.path, ".git", "rebase-merge"), "head-name", "refs/heads/feat/1\n");
      },
    ],
    ["when it is the default branch", ({ merge }) => merge(), { defaultBranch: "feat/1" }],
    [
      "when nobody knows the default branch",
      ({ merge, repository }) => {
        merge();
        repository.git("branch", "-q", "-m", "main", "trunk");
        repository.git("checkout", "-q", "--detach");
      },
      { defaultBranch: null },
    ],
    [
      "when its log has a commit that nothing else has",
      ({ merge, path, commit }) => {
        commit("dropped.txt");
        gitIn(path, "reset", "-q", "--hard", "HEAD~1");
        merge();
      },
    ],
  ])("%s", async (_when, arrange, asks) => {
    const it = await opened();
    const { workspace, spec, query } = it;
    arrange(it);
    const asked = { ...query, ...asks };
    const claimed = { branch: "feat/1", commit: tip(it), into: "refs/heads/main" };
    expect(await workspace.mergedBranch(spec, asked)).toBeNull();
    expect(await workspace.deleteMerged(spec, asked, claimed)).toBe(false);
    expect(tip(it)).toBe(claimed.commit);
  });

  test("when it moved after it was proven, though all of it is merged", async () => {
    const it = await opened();
    const { workspace, spec, query, commit, merge } = it;
    merge();
    const proven = await workspace.mergedBranch(spec, query);
    commit("later.txt");
    merge();
    await workspace.destroy(spec);
    expect(proven && (await workspace.deleteMerged(spec, query, proven))).toBe(false);
    expect(tip(it)).not.toBe(proven?.commit);
  });
});

test("a restore of a deleted branch whose commit is gone is one clear error", async () => {
  const { workspace, spec, repository } = await opened();
  await workspace.destroy(spec);
  repository.git("branch", "-D", "feat/1");
  const lost = { ...spec, branchCommit: "1".repeat(40) };
  await expect(workspace.restore(lost)).rejects.toMatchObject({ code: "branch_missing" });
});
