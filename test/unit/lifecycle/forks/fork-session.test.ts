import { describe, expect, test } from "vitest";
import { said } from "../../../../src/adapters/memory/agent.ts";
import { AoError } from "../../../../src/domain/errors.ts";
import { compareSessions } from "../../../../src/lifecycle/forks/compare-sessions.ts";
import { forkSession } from "../../../../src/lifecycle/forks/fork-session.ts";
import { observeSessions } from "../../../../src/lifecycle/observe/observe-sessions.ts";
import { recoverOperations } from "../../../../src/lifecycle/recovery/recover-operations.ts";
import { readPage } from "../../../../src/lifecycle/transcripts/read-page.ts";
import { aForkRequest, aSourceWorld, SOURCE, turnsOf } from "../../../conformance/forks/memory-driver.ts";
import { sessionId } from "../../../support/builders.ts";
import type { World } from "../../../support/world.ts";

const FORK = sessionId("app-2");
const PATH = "/data/worktrees/app/app-2";

const fork = (world: World, overrides = {}) =>
  forkSession(world.deps, SOURCE, aForkRequest(world, overrides));
const texts = async ({ deps }: World) =>
  (await readPage(deps, FORK, { first: 0, limit: 100 })).messages.map(({ message }) => message.text);

describe("a fork", () => {
  test("shows what was said before once, also when its agent's own log tells it again", async () => {
    const world = await aSourceWorld();
    const { record } = await fork(world);
    const id = record.metadata.agentSessionId ?? "";
    const entry = {
      position: 5,
      after: 4,
      role: "user",
      text: "new",
      atMs: 5,
      edge: "start",
      detail: {},
    } as const;
    const log =
      (await world.agent.readConversation?.(id, { dataDir: "/data", workspacePath: PATH, home: null })) ?? [];
    expect(log).toEqual([]);
    world.agent.setLog(
      id,
      [1, 2, 3, 4].map((position) => ({ ...entry, position, text: "again" })),
    );
    await world.hear(FORK, "said", { body: said(id, entry) });
    await observeSessions(world.deps, [FORK]);
    expect(await texts(world)).toEqual(["prompt 1", "done", "prompt 3", "done", "new"]);
  });

  test("at the first turn has neither words nor files of the second", async () => {
    const world = await aSourceWorld();
    const [first = null] = turnsOf(world);
    await fork(world, { turnId: first });
    expect(await texts(world)).toEqual(["prompt 1", "done"]);
    expect(world.snapshots.work.state(PATH).files.get("notes.txt")).toBe("turn 1\n");
    expect(world.agent.forks.map(({ throughPosition }) => throughPosition)).toEqual([2]);
  });

  test("by the agent's own command starts it with that, at the end of the conversation alone", async () => {
    const world = await aSourceWorld({ capabilities: { fork: "native" } });
    const [first = null] = turnsOf(world);
    await expect(fork(world, { turnId: first })).rejects.toMatchObject({ code: "fork_unsupported" });
    const { record } = await fork(world);
    const source = world.row(SOURCE).metadata.agentSessionId;
    const started = world.runtime.created.find((spec) => spec.sessionId === FORK);
    expect(started?.argv.slice(1)).toEqual(["--fork", source, "--new", record.metadata.agentSessionId]);
  });

  test("by the agent's own command is unknown when its start ended in doubt, and nobody starts it again", async () => {
    const world = await aSourceWorld({ capabilities: { fork: "native" } });
    world.runtime.failNext("create", new AoError("runtime_unavailable", "tmux did not answer in time"));
    await expect(fork(world)).rejects.toMatchObject({ code: "fork_unknown" });
    const tried = world.runtime.created.length;
    await recoverOperations(world.deps);
    expect(world.runtime.created).toHaveLength(tried);
  });

  test("by a replay sends a new conversation what was said, and then the prompt", async () => {
    const world = await aSourceWorld({ capabilities: { fork: "replay" } });
    await fork(world, { prompt: "go on" });
    const [message] = world.deps.messages.sent(FORK);
    const text = message?.text ?? world.deps.messages.firstQueued(FORK)?.text;
    expect(text).toContain("[user] prompt 1\n\n[assistant] done\n\n[user] prompt 3");
    expect(text?.endsWith("\n\ngo on")).toBe(true);
  });

  test("of an agent that cannot is refused, and nothing is made", async () => {
    const world = await aSourceWorld({ capabilities: { fork: "none" } });
    await expect(fork(world)).rejects.toMatchObject({ code: "fork_unsupported" });
    expect(world.deps.store.list().map(({ id }) => id)).toEqual([SOURCE]);
  });
});

describe("two sessions", () => {
  test("are compared from their last common turn", async () => {
    const world = await aSourceWorld();
    await fork(world);
    world.snapshots.work.write(PATH, "fork.txt", "x\n");
    const { base, sessions } = await compareSessions(world.deps, SOURCE, FORK);
    expect(base).toMatchObject({ sessionId: SOURCE, turnId: turnsOf(world)[1] });
    expect(sessions.map(({ files }) => files.map(({ path }) => path))).toEqual([[], ["fork.txt"]]);
  });

  test("that have no turn in common are not", async () => {
    const world = await aSourceWorld();
    await world.spawn({ issueId: "77" });
    const other = compareSessions(world.deps, SOURCE, FORK);
    await expect(other).rejects.toMatchObject({ code: "not_related" });
  });
});
