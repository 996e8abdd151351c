import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Ao, aoSandbox, git } from "../support/ao.ts";
import {
  compareSchema,
  forkSchema,
  listSchema,
  sendSchema,
  showSchema,
  turnsSchema,
} from "../support/json-schemas.ts";

/** A session whose turn n wrote `n` to a.txt. */
async function aSource(turns: number): Promise<{ readonly ao: Ao; readonly id: string }> {
  const ao = aoSandbox();
  const id = await ao.spawn(ao.repository(), ["--title", "Task", "--prompt", "write a.txt 1"]);
  await ao.until(id, "idle");
  for (let turn = 2; turn <= turns; turn += 1) await say(ao, id, `write a.txt ${turn}`);
  return { ao, id };
}

async function say(ao: Ao, id: string, text: string): Promise<void> {
  await ao.json(sendSchema, ["send", id], { input: text });
  await ao.until(id, "idle");
}

/** Ids of turns, oldest first. */
async function turnsOf(ao: Ao, id: string): Promise<readonly string[]> {
  await ao.run(["reconcile"]);
  const { data } = await ao.json(turnsSchema, ["turns", id]);
  return data.map((turn) => turn.id).toReversed();
}

const fork = (ao: Ao, id: string, ...argv: readonly string[]) => ao.json(forkSchema, ["fork", id, ...argv]);

/** How many objects a repository has, packed or not. */
function objectsOf(repository: string): number {
  const counted = git(repository, "count-objects", "-v");
  const numbers = [...counted.matchAll(/^(?:count|in-pack): (\d+)$/gm)];
  return numbers.reduce((sum, [, count]) => sum + Number(count), 0);
}

/** What the agent of a session says that it was asked so far. */
async function recall(ao: Ao, id: string): Promise<readonly string[]> {
  await say(ao, id, "recall");
  await ao.run(["reconcile"]);
  const { stdout } = await ao.run(["transcript", "show", id]);
  return [...stdout.matchAll(/recall \d+: "(.*)"/g)].map(([, prompt = ""]) => prompt);
}

describe("a fork", () => {
  test("has conversation and files of its turn, uncommitted changes too, while the source goes on", async () => {
    const { ao, id } = await aSource(3);
    const [, second = ""] = await turnsOf(ao, id);
    await ao.json(sendSchema, ["send", id], { input: "wait 30" });
    const before = readFileSync(join(ao.dataDir, "worktrees", "shop", id, "a.txt"), "utf8");

    const { session, turnId, status } = await fork(ao, id, "--at", second, "--prompt", "write b.txt new");
    expect([status, turnId]).toEqual(["committed", second]);
    expect(session).toMatchObject({ parentId: id, forkedFromTurnId: second, title: "Task (2)" });
    await ao.until(session.id, "idle");
    expect(readFileSync(join(session.workspacePath, "a.txt"), "utf8")).toBe("2\n");
    expect(git(session.workspacePath, "status", "--porcelain")).toBe("?? a.txt\n?? b.txt");
    expect(readFileSync(join(ao.dataDir, "worktrees", "shop", id, "a.txt"), "utf8")).toBe(before);

    expect(await recall(ao, session.id)).toEqual(["write a.txt 1", "write a.txt 2", "write b.txt new"]);
    const shown = await ao.json(showSchema, ["show", session.id]);
    expect(shown).toMatchObject({ parentId: id, forkedFromTurnId: second });

    const { sessions, base, both } = await ao.json(compareSchema, ["compare", id, session.id]);
    expect(base).toMatchObject({ sessionId: id, turnId: second });
    expect(sessions.map(({ files }) => files.map(({ path, kind }) => `${kind} ${path}`))).toEqual([
      ["changed a.txt"],
      ["added b.txt"],
    ]);
    expect(both).toEqual([]);
  });

  test("of a fork, and ten of one turn, cost worktrees and no copy of the past", async () => {
    const { ao, id } = await aSource(1);
    const [turn = ""] = await turnsOf(ao, id);
    const first = await fork(ao, id, "--at", turn);
    const grandchild = await fork(ao, first.session.id);
    expect(grandchild.session).toMatchObject({
      parentId: first.session.id,
      forkedFromTurnId: first.turnId,
      title: "Task (3)",
    });
    const objects = () => objectsOf(join(ao.root, "shop"));
    const before = objects();
    const others = Array.from({ length: 9 }, () => fork(ao, id, "--at", turn));
    const trees = (await Promise.all(others)).map(({ session }) => session.workspacePath);
    expect(objects()).toBe(before);
    expect(new Set(trees.map((tree) => readFileSync(join(tree, "a.txt"), "utf8")))).toEqual(new Set(["1\n"]));
    const kept = readdirSync(join(ao.dataDir, "transcripts", "shop", "forks"));
    expect(kept.filter((name) => name.endsWith(".events.jsonl"))).toHaveLength(1);
    const { stdout } = await ao.run(["list", "--tree", "--stored"]);
    expect(stdout).toContain(`\n  ${first.session.id} `);
    expect(stdout).toContain(`\n    ${grandchild.session.id} `);
    const { data } = await ao.json(listSchema, ["list"]);
    expect(data.filter(({ parentId }) => parentId === id)).toHaveLength(10);

    // What the parent said is its own to give up; the forks keep what they have of it.
    await ao.run(["kill", id, "--keep-worktree"]);
    expect((await ao.run(["transcript", "prune", id])).exitCode).toBe(0);
    expect((await ao.run(["transcript", "show", grandchild.session.id])).stdout).toContain("write a.txt 1");
    expect((await ao.run(["transcript", "verify"])).exitCode).toBe(0);
  });

  test("that cannot be is one clear error each, and nothing is made", async () => {
    const { ao, id } = await aSource(1);
    const [turn = ""] = await turnsOf(ao, id);
    const repository = join(ao.root, "shop");
    const shell = await ao.spawn(repository, ["--agent", "shell", "--", "sleep", "60"]);
    await ao.json(sendSchema, ["send", id], { input: "wait 20" });
    const [, live = ""] = await turnsOf(ao, id);
    const before = await ao.traces(repository);

    const refused = async (...argv: readonly string[]) => {
      const { code, exitCode } = await ao.error(["fork", ...argv]);
      return [code, exitCode];
    };
    expect(await refused(id, "--at", live)).toEqual(["turn_not_settled", 4]);
    expect(await refused(id, "--at", "no-such-turn")).toEqual(["turn_not_found", 3]);
    expect(await refused(shell)).toEqual(["fork_unsupported", 4]);
    expect(await refused(id, "--at", turn, "--branch", "main")).toEqual(["branch_in_use", 4]);
    expect(await refused("shop-99")).toEqual(["session_not_found", 3]);
    git(repository, "update-ref", "-d", `refs/ao/checkpoints/${id}/${turn}`);
    expect(await refused(id, "--at", turn)).toEqual(["checkpoint_not_found", 3]);
    const after = await ao.traces(repository);
    expect({ ...after, rows: after.rows.map((row) => row.id), files: [] }).toEqual({
      ...before,
      rows: before.rows.map((row) => row.id),
      files: [],
    });
  });

  test("is asked for again under its request id as the same one", async () => {
    const { ao, id } = await aSource(1);
    const first = await fork(ao, id, "--request-id", "r1");
    writeFileSync(join(first.session.workspacePath, "later.txt"), "x");
    const again = await fork(ao, id, "--request-id", "r1");
    expect([again.id, again.session.id]).toEqual([first.id, first.session.id]);
    const { code } = await ao.error(["fork", id, "--request-id", "r1", "--title", "other"]);
    expect(code).toBe("request_conflict");
    const old = await ao.run(["session", "fork", id, "--help"]);
    expect(old.stdout).toContain("--at <turn>");
  });
});
