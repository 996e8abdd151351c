import { describe, expect, test } from "vitest";
import type { RuntimeObservation } from "../../../../src/domain/facts.ts";
import type { CanonicalLifecycle } from "../../../../src/domain/lifecycle.ts";
import type { SessionRecord } from "../../../../src/domain/session.ts";
import { deriveStatus, type Status } from "../../../../src/domain/status.ts";
import { getSession, listSessions } from "../../../../src/lifecycle/observe/list-sessions.ts";
import { observeSessions } from "../../../../src/lifecycle/observe/observe-sessions.ts";
import {
  aKilledLifecycle,
  aSession,
  aWorkingLifecycle,
  projectId,
  sessionId,
} from "../../../support/builders.ts";
import { aWorld, type World } from "../../../support/world.ts";

const ID = sessionId("app-1");
const ALL = { projectId: null, stored: false };
const OPEN_PR = { number: 9, url: "https://example.test/9" };
const aliveWith = (lastOutputAtMs: number | null): RuntimeObservation => ({
  runtime: { kind: "alive", lastOutputAtMs },
  process: { kind: "alive" },
});

const statusOf = ({ lifecycle }: SessionRecord) => deriveStatus(lifecycle);
const statuses = async ({ deps }: World) => (await listSessions(deps, ALL)).sessions.map(statusOf);

describe("a list", () => {
  const rows: readonly [Status, CanonicalLifecycle][] = [
    ["spawning", aWorkingLifecycle({ session: { state: "not_started", reason: "spawn_requested" } })],
    ["working", aWorkingLifecycle()],
    ["idle", aWorkingLifecycle({ session: { state: "idle", reason: "research_complete" } })],
    ["needs_input", aWorkingLifecycle({ session: { state: "needs_input", reason: "awaiting_user_input" } })],
    ["ci_failed", aWorkingLifecycle({ pr: { state: "open", reason: "ci_failing", ...OPEN_PR } })],
    ["merged", aWorkingLifecycle({ pr: { state: "merged", reason: "merged", ...OPEN_PR } })],
    ["killed", aKilledLifecycle()],
  ];

  test("derives the status of every session on read, as a single look-up does", async () => {
    const { deps } = aWorld();
    for (const [index, [, lifecycle]] of rows.entries()) {
      deps.store.insert(aSession({ id: `app-${index + 1}`, lifecycle }));
    }
    const expected = rows.map(([status]) => status);
    const { sessions } = await listSessions(deps, { projectId: projectId("app"), stored: true });
    expect(sessions.map(statusOf)).toEqual(expected);
    const single = sessions.map(({ id }) => getSession(deps, id, { stored: true }));
    expect((await Promise.all(single)).map(statusOf)).toEqual(expected);
  });

  test("shows what is stored and nothing else when the look is skipped", async () => {
    const world = aWorld();
    const record = await world.spawn();
    await world.hear(ID, "active");
    world.clearLog();
    const options = { projectId: null, stored: true };
    expect(await listSessions(world.deps, options)).toEqual({
      sessions: [record],
      unreadable: [],
      observedAtMs: null,
      lookFailures: [],
    });
    expect(world.log).toEqual([]);
  });

  test("folds pending events and one look in memory and writes nothing", async () => {
    const world = aWorld();
    await world.spawn();
    await world.spawn({ issueId: "43" });
    await world.hear(ID, "active");
    await world.hear(sessionId("app-2"), "waiting_input");
    world.clearLog();
    const before = [world.deps.store.list(), await world.deps.inbox.pending()];
    const { observedAtMs } = await listSessions(world.deps, ALL);
    expect(await statuses(world)).toEqual(["working", "needs_input"]);
    expect(observedAtMs).toBe(world.clock.nowMs());
    expect(world.log).toEqual(["runtime.look app-1 app-2", "runtime.look app-1 app-2"]);
    expect([world.deps.store.list(), await world.deps.inbox.pending()]).toEqual(before);
  });

  test("shows what an observation then saves", async () => {
    const world = aWorld();
    await world.spawn();
    await world.spawn({ issueId: "43" });
    await world.spawn({ issueId: "44" });
    await world.hear(ID, "blocked");
    world.runtime.exitAgent(sessionId("app-2"), 9);
    world.runtime.setLook(sessionId("app-3"), { runtime: { kind: "unknown" }, process: { kind: "dead" } });
    const shown = (await listSessions(world.deps, ALL)).sessions.map(({ lifecycle }) => lifecycle);
    const { sessions } = await observeSessions(world.deps);
    expect(sessions.map(({ lifecycle }) => lifecycle)).toMatchObject(
      shown.map(({ revision: _, ...rest }) => rest),
    );
    expect(world.deps.store.list()).toEqual(sessions);
  });

  test("never shows a session as working whose agent was killed a moment ago", async () => {
    const world = aWorld();
    await world.spawn();
    await world.hear(ID, "active");
    world.runtime.exitAgent(ID, null, "9");
    expect(await statuses(world)).toEqual(["detecting"]);
    world.clock.advance(60_001);
    expect(await statuses(world)).toEqual(["killed"]);
  });

  test("makes up no time: a death that is only seen has none until it is saved", async () => {
    const world = aWorld();
    const stored = await world.spawn();
    world.runtime.loseRuntime(ID);
    for (let look = 1; look <= 2; look++) {
      world.clock.advance(1000);
      const shown = await getSession(world.deps, ID, { stored: false });
      expect(statusOf(shown)).toBe("killed");
      expect(shown).toMatchObject({ terminatedAtMs: null, updatedAtMs: stored.updatedAtMs });
    }
    await observeSessions(world.deps);
    const terminatedAtMs = world.clock.nowMs();
    world.clock.advance(1000);
    expect(await getSession(world.deps, ID, { stored: false })).toMatchObject({ terminatedAtMs });
  });

  test("does not take an event for news that was saved before its reader died and left it", async () => {
    const world = aWorld();
    await world.spawn();
    await world.hear(ID, "submit", { body: "hello" });
    const inbox = { ...world.deps.inbox, remove: async () => undefined };
    await observeSessions({ ...world.deps, inbox });
    world.runtime.exitAgent(ID, null, "9");
    await observeSessions({ ...world.deps, inbox });
    const { detecting } = world.row(ID).lifecycle;
    world.clock.advance(1000);
    const shown = await getSession(world.deps, ID, { stored: false });
    expect(await world.deps.inbox.pending()).toHaveLength(1);
    expect(shown.lifecycle.detecting).toEqual({ ...detecting, attempts: 2 });
  });

  test("does not start a look when no session is live", async () => {
    const world = aWorld();
    await world.spawn();
    await world.kill(ID);
    world.clearLog();
    expect(await statuses(world)).toEqual(["killed"]);
    expect(world.log).toEqual([]);
  });

  test("that could not look shows doubt, says why once, and is no death", async () => {
    const world = aWorld();
    await world.spawn();
    await world.spawn({ issueId: "43" });
    world.runtime.failNext("look", new Error("tmux: timed out"));
    const { sessions, lookFailures } = await listSessions(world.deps, ALL);
    expect(sessions.map(statusOf)).toEqual(["detecting", "detecting"]);
    expect(lookFailures).toEqual(["tmux: timed out"]);
  });

  test("is limited to one project when asked to", async () => {
    const world = aWorld();
    await world.spawn();
    const options = { projectId: projectId("web"), stored: false };
    expect((await listSessions(world.deps, options)).sessions).toEqual([]);
  });

  test("asks for an unknown session by name", async () => {
    const { deps } = aWorld();
    for (const stored of [true, false]) {
      await expect(getSession(deps, ID, { stored })).rejects.toMatchObject({ code: "session_not_found" });
    }
  });

  test("shows one session as the list does", async () => {
    const world = aWorld();
    await world.spawn();
    await world.hear(ID, "ready");
    const [listed] = (await listSessions(world.deps, ALL)).sessions;
    expect(await getSession(world.deps, ID, { stored: false })).toEqual(listed);
  });
});

describe("an event counts", () => {
  test.each([
    ["from another launch", { launchId: "launch-0" }],
    ["from another kind of agent in the same terminal", { agent: "other" }],
    ["that its agent does not know", { event: "who-knows" }],
    ["of another session", { sessionId: "app-9" }],
  ])("not %s", async (_name, overrides) => {
    const world = aWorld();
    await world.spawn();
    await world.hear(ID, "active", overrides);
    expect(await statuses(world)).toEqual(["spawning"]);
  });

  test("in the order of time", async () => {
    const world = aWorld();
    await world.spawn();
    const now = world.clock.nowMs();
    await world.hear(ID, "waiting_input", { atMs: now + 2 });
    await world.hear(ID, "active", { atMs: now + 1 });
    world.clock.advance(10);
    expect(await statuses(world)).toEqual(["needs_input"]);
  });

  test("as of now when its time is ahead, so that later ones still count", async () => {
    const world = aWorld();
    await world.spawn();
    await world.hear(ID, "waiting_input", { atMs: world.clock.nowMs() + 1e9 });
    await observeSessions(world.deps);
    world.clock.advance(1000);
    await world.hear(ID, "active");
    expect(await statuses(world)).toEqual(["working"]);
  });
});

describe("an agent without hooks", () => {
  const options = { capabilities: { hooks: false, receipts: false } };

  test.each<[string, number, Status]>([
    ["output a minute ago is work", 60_000, "working"],
    ["a longer silence is rest", 60_001, "idle"],
  ])("%s", async (_name, agoMs, status) => {
    const world = aWorld(options);
    await world.spawn();
    world.runtime.setLook(ID, aliveWith(world.clock.nowMs()));
    world.clock.advance(agoMs);
    expect(await statuses(world)).toEqual([status]);
    expect((await observeSessions(world.deps)).sessions[0]?.lifecycle.activity.source).toBe("runtime");
  });

  test("is in doubt, and stays so, when its process is dead in a terminal that lives", async () => {
    const world = aWorld(options);
    await world.spawn();
    const runtime = { kind: "alive", lastOutputAtMs: world.clock.nowMs() } as const;
    world.runtime.setLook(ID, { runtime, process: { kind: "dead" } });
    for (const expected of ["detecting", "detecting", "stuck"]) {
      const { sessions } = await observeSessions(world.deps);
      expect(sessions.map(statusOf)).toEqual([expected]);
    }
  });

  test("is not read from its terminal when it has hooks", async () => {
    const world = aWorld();
    await world.spawn();
    world.runtime.setLook(ID, aliveWith(world.clock.nowMs()));
    expect(await statuses(world)).toEqual(["spawning"]);
  });
});
