import { describe, expect, test } from "vitest";
import { AoError } from "../../src/domain/errors.ts";
import type { RuntimeObservation } from "../../src/domain/facts.ts";
import type { Runtime, RuntimeSpec, RuntimeTarget, StartedRuntime } from "../../src/ports/runtime.ts";
import { launchId, sessionId } from "../support/builders.ts";

/** What the agent of a spec does: it stays until it is told to go, or exits with a status. */
export interface AgentPlan {
  readonly says?: readonly string[];
  readonly exitsWith?: number;
}

/** A runtime with the means to play the world around it. */
export interface RuntimeWorld {
  readonly runtime: Runtime;
  /** A launch of its own, in a workspace that is there. */
  spec(plan: AgentPlan, patch?: Partial<RuntimeSpec>): RuntimeSpec;
  /** A path where no workspace is. */
  readonly nowhere: string;
  /** Ends an agent from outside, by KILL or so that it exits with 3. */
  endAgent(started: RuntimeTarget, how: "killed" | "exits"): void;
  /** Takes away everything the runtime holds, as when its server dies. */
  loseAll(): void;
  /** Has everything live on where it cannot be reached, as when the socket of its server is removed. */
  loseSight(): void;
  /** What there still is of a launch, in words. */
  remains(spec: RuntimeSpec): readonly string[];
}

const GONE: RuntimeObservation = { runtime: { kind: "missing" }, process: { kind: "dead" } };
const ALIVE = { runtime: { kind: "alive" }, process: { kind: "alive" } };

function targetOf(spec: RuntimeSpec, started: StartedRuntime): RuntimeTarget {
  return { sessionId: spec.sessionId, launchId: spec.launchId, ...started };
}

const bySession = (a: RuntimeTarget, b: RuntimeTarget) => a.sessionId.localeCompare(b.sessionId);

function remembered({ sessionId, launchId, handle, process }: RuntimeTarget): RuntimeTarget {
  return { sessionId, launchId, handle, process };
}

/** What every `Runtime` owes its callers. `open` gives an empty one. */
export function runtimeContract(name: string, open: () => RuntimeWorld): void {
  describe(`${name} is a Runtime`, () => {
    async function started(world: RuntimeWorld, plan: AgentPlan = {}): Promise<RuntimeTarget> {
      const spec = world.spec(plan);
      return targetOf(spec, await world.runtime.create(spec));
    }

    async function lookAt(
      world: RuntimeWorld,
      target: RuntimeTarget,
    ): Promise<RuntimeObservation | undefined> {
      return (await world.runtime.look([target])).get(target.sessionId);
    }

    test("it says what it is and that it can be used", async () => {
      const { runtime } = open();
      expect(runtime.name).toMatch(/^[a-z]+$/);
      expect(await runtime.check()).toMatchObject({ kind: "ok" });
    });

    test("a started agent is there", async () => {
      const world = open();
      expect(await lookAt(world, await started(world))).toMatchObject(ALIVE);
    });

    test("an agent whose start became another's by then is not started", async () => {
      const world = open();
      const lost = new AoError("operation_in_progress", "another process has it");
      const fence = () => {
        throw lost;
      };
      const spec = world.spec({}, { fence });
      await expect(world.runtime.create(spec)).rejects.toBe(lost);
      expect(world.remains(spec)).toEqual([]);
      const mine = { ...spec, fence: () => undefined };
      expect(await lookAt(world, targetOf(spec, await world.runtime.create(mine)))).toMatchObject(ALIVE);
    });

    test("an agent that exits at its start is an error with status and last words, and leaves nothing", async () => {
      const world = open();
      const spec = world.spec({ says: ["cannot go on"], exitsWith: 7 }, { settleMs: 2000 });
      await expect(world.runtime.create(spec)).rejects.toMatchObject({
        code: "agent_start_failed",
        details: { exitStatus: 7, signal: null, output: ["cannot go on"] },
      });
      expect(world.remains(spec)).toEqual([]);
    });

    test("without its workspace no agent starts, and nothing is left", async () => {
      const world = open();
      const spec = world.spec({}, { workspacePath: world.nowhere });
      await expect(world.runtime.create(spec)).rejects.toMatchObject({
        code: "agent_start_failed",
        message: expect.stringContaining(world.nowhere),
      });
      expect(world.remains(spec)).toEqual([]);
    });

    test("a second runtime for a session is refused and the first lives on", async () => {
      const world = open();
      const first = await started(world);
      const again = world.spec({}, { sessionId: first.sessionId });
      await expect(world.runtime.create(again)).rejects.toMatchObject({ code: "operation_in_progress" });
      expect(await lookAt(world, first)).toMatchObject(ALIVE);
    });

    test.each([
      ["was killed", "killed", { kind: "exited", exitStatus: null, signal: "SIGKILL" }],
      ["exited", "exits", { kind: "exited", exitStatus: 3, signal: null }],
    ] as const)("an agent that %s is seen so, with how it ended", async (_what, how, runtime) => {
      const world = open();
      const target = await started(world);
      world.endAgent(target, how);
      await expect.poll(() => lookAt(world, target)).toMatchObject({ runtime, process: { kind: "dead" } });
    });

    test("a destroyed runtime is gone with its agent, and to destroy it again resolves", async () => {
      const world = open();
      const target = await started(world);
      await world.runtime.destroy(target);
      expect(await lookAt(world, target)).toEqual(GONE);
      await expect(world.runtime.destroy(target)).resolves.toBeUndefined();
    });

    test("the runtime of an agent that has exited is destroyed too", async () => {
      const world = open();
      const target = await started(world);
      world.endAgent(target, "exits");
      await world.runtime.destroy(target);
      expect(await lookAt(world, target)).toEqual(GONE);
    });

    test("a session can be started again after it was destroyed", async () => {
      const world = open();
      const spec = world.spec({});
      await world.runtime.destroy(targetOf(spec, await world.runtime.create(spec)));
      const next = world.spec({}, { sessionId: spec.sessionId });
      const target = targetOf(next, await world.runtime.create(next));
      expect(await lookAt(world, target)).toMatchObject(ALIVE);
    });

    test("an older launch of the same session is gone, and to destroy it leaves the new one alone", async () => {
      const world = open();
      const target = await started(world);
      const older: RuntimeTarget = { ...target, launchId: launchId("launch-of-old"), process: null };
      expect((await lookAt(world, older))?.runtime).toEqual({ kind: "missing" });
      await world.runtime.destroy(older);
      expect(await lookAt(world, target)).toMatchObject(ALIVE);
    });

    test("one of two is destroyed and the other lives on", async () => {
      const world = open();
      const [one, other] = [await started(world), await started(world)];
      await world.runtime.destroy(one);
      const seen = await world.runtime.look([one, other]);
      expect(seen.get(one.sessionId)).toEqual(GONE);
      expect(seen.get(other.sessionId)).toMatchObject(ALIVE);
    });

    test("when everything is lost, every runtime is missing and every agent dead", async () => {
      const world = open();
      const targets = [await started(world), await started(world)];
      world.loseAll();
      await expect.poll(async () => [...(await world.runtime.look(targets)).values()]).toEqual([GONE, GONE]);
      for (const target of targets) await world.runtime.destroy(target);
    });

    test("what is out of reach is not dead, and no look or search changes that", async () => {
      const world = open();
      const target = await started(world);
      world.loseSight();
      for (const _time of ["first", "second"]) {
        const seen = await lookAt(world, target);
        expect(seen).toMatchObject({ runtime: { kind: "probe_failed" }, process: { kind: "alive" } });
        const unavailable = { code: "runtime_unavailable" };
        await expect(world.runtime.marked()).rejects.toMatchObject(unavailable);
        await expect(world.runtime.capture(target, 1)).rejects.toMatchObject(unavailable);
      }
    });

    test.each<[string, (world: RuntimeWorld, target: RuntimeTarget) => Promise<unknown>]>([
      ["is told to", ({ runtime }) => runtime.reopen()],
      ["has another one to start", ({ runtime, spec }) => runtime.create(spec({}))],
      ["has one to find", ({ runtime }, { sessionId: id, launchId }) => runtime.find(id, launchId)],
      ["has another one to end", async ({ runtime }, target) => runtime.destroy(target)],
    ])("what was out of reach is seen alive again after the runtime %s", async (_what, change) => {
      const world = open();
      const [target, doomed] = [await started(world), await started(world)];
      world.loseSight();
      await change(world, doomed);
      expect(await lookAt(world, target)).toMatchObject(ALIVE);
    });

    test("to reopen where nothing is wrong, or nothing is at all, does nothing", async () => {
      const world = open();
      await world.runtime.reopen();
      expect(await world.runtime.marked()).toEqual([]);
      const target = await started(world);
      await world.runtime.reopen();
      expect(await lookAt(world, target)).toMatchObject(ALIVE);
    });

    test("where nothing was ever started, nothing is marked", async () => {
      const { runtime } = open();
      expect(await runtime.marked()).toEqual([]);
      expect(await runtime.find(sessionId("app-1"), launchId("launch-1"))).toBeUndefined();
    });

    test("every runtime is found by its marks, as it was started", async () => {
      const world = open();
      const targets = [await started(world), await started(world)];
      const found = await world.runtime.marked();
      expect([...found].sort(bySession)).toMatchObject([...targets].sort(bySession).map(remembered));
      expect(found.every(({ createdAtMs }) => createdAtMs > 1_600_000_000_000)).toBe(true);
    });

    test("a survey sees what a look sees, and lists every runtime, also those it was not asked for", async () => {
      const world = open();
      const targets = [await started(world), await started(world)];
      const { seen, marks } = await world.runtime.survey(targets.slice(0, 1));
      expect([...seen.values()]).toMatchObject([ALIVE]);
      const expected = targets.map(({ sessionId, launchId }) => `${sessionId} ${launchId}`);
      expect(marks?.map(({ sessionId, launchId }) => `${sessionId} ${launchId}`).sort()).toEqual(
        expected.sort(),
      );
    });

    test("a survey that cannot tell of all lists nothing", async () => {
      const world = open();
      expect(await world.runtime.survey([])).toEqual({ seen: new Map(), marks: null });
      const target = await started(world);
      world.loseSight();
      expect((await world.runtime.survey([target])).marks).toBeNull();
    });

    test("one launch is found by its marks, and no other one of its session", async () => {
      const world = open();
      const [target] = [await started(world), await started(world)];
      expect(await world.runtime.find(target.sessionId, target.launchId)).toMatchObject(remembered(target));
      expect(await world.runtime.find(target.sessionId, launchId("launch-of-old"))).toBeUndefined();
    });

    test("the runtime of a dead agent is found without a process, and can be destroyed so", async () => {
      const world = open();
      const target = await started(world);
      world.endAgent(target, "killed");
      const find = () => world.runtime.find(target.sessionId, target.launchId);
      await expect.poll(find).toMatchObject({ handle: target.handle, process: null });
      const found = await find();
      if (found !== undefined) await world.runtime.destroy(found);
      expect(await find()).toBeUndefined();
    });

    test("nothing is marked when everything is lost", async () => {
      const world = open();
      await started(world);
      world.loseAll();
      await expect.poll(() => world.runtime.marked()).toEqual([]);
    });

    test("a look at nothing is an empty answer", async () => {
      expect(await open().runtime.look([])).toEqual(new Map());
    });

    test("the screen is given from its end, oldest line first", async () => {
      const world = open();
      const target = await started(world, { says: ["one", "two", "three"] });
      await expect.poll(() => world.runtime.capture(target, 10)).toEqual(["one", "two", "three"]);
      expect(await world.runtime.capture(target, 2)).toEqual(["two", "three"]);
    });

    test("the screen of an agent that has exited can still be read", async () => {
      const world = open();
      const target = await started(world, { says: ["last words"] });
      await expect.poll(() => world.runtime.capture(target, 5)).toEqual(["last words"]);
      world.endAgent(target, "killed");
      await expect.poll(async () => (await lookAt(world, target))?.runtime.kind).toBe("exited");
      expect(await world.runtime.capture(target, 5)).toEqual(["last words"]);
    });

    test("the screens of several are read at once, and one that is gone hides no other", async () => {
      const world = open();
      const [one, gone, other] = [
        await started(world, { says: ["one", "", "more"] }),
        await started(world),
        await started(world, { says: ["other;"] }),
      ];
      await world.runtime.destroy(gone);
      const read = async () => Object.fromEntries(await world.runtime.screens([one, gone, other]));
      await expect.poll(read).toEqual({
        [one.sessionId]: ["one", "", "more"],
        [other.sessionId]: ["other;"],
      });
      expect(await world.runtime.screens([])).toEqual(new Map());
    });

    test("the screens of more than a few are read as well", async () => {
      const world = open();
      const says = Array.from({ length: 12 }, (_, number) => `number ${number}`);
      const targets: Awaited<ReturnType<typeof started>>[] = [];
      for (const line of says) targets.push(await started(world, { says: [line] }));
      const read = async () => [...(await world.runtime.screens(targets)).values()].flat();
      await expect.poll(read).toEqual(says);
    });

    test("no screen is read where nobody can look", async () => {
      const world = open();
      const target = await started(world, { says: ["one"] });
      world.loseSight();
      expect(await world.runtime.screens([target])).toEqual(new Map());
    });

    test("there is no screen of a runtime that is gone", async () => {
      const world = open();
      const target = await started(world);
      await world.runtime.destroy(target);
      await expect(world.runtime.capture(target, 5)).rejects.toMatchObject({ code: "not_running" });
    });

    test("the commands for a terminal name the runtime, and only inside its server one switches", async () => {
      const world = open();
      const { handle } = await started(world);
      expect(world.runtime.attachArgv(handle)).toContain(handle.id);
      expect(world.runtime.switchArgv(handle, {})).toBeUndefined();
      expect(world.runtime.switchArgv(handle, { TMUX: "/elsewhere,1,0" })).toBeUndefined();
      expect(world.runtime.switchArgv(handle, { TMUX: `${handle.socketPath},1,0` })).toContain(handle.id);
    });
  });
}
