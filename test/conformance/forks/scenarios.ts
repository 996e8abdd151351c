import { expect } from "vitest";
import type { SessionForkDriver } from "./driver.ts";

export interface ForkScenario {
  readonly name: string;
  run(driver: SessionForkDriver): Promise<void>;
}

const REQUEST = "request-fork";

async function expectCalls(driver: SessionForkDriver, calls: number): Promise<void> {
  expect((await driver.metrics()).agentForkCalls).toBe(calls);
}

async function expectTraces(driver: SessionForkDriver, sessions: number): Promise<void> {
  expect(await driver.traces()).toEqual({ sessions, orphans: [] });
}

/** Pinned by the source documents. */
export const PINNED_FORKS: readonly ForkScenario[] = [
  {
    name: "a replay after a failed local commit commits without asking the agent again",
    async run(driver) {
      await driver.reset({ failFirstLocalCommit: true });
      const first = await driver.fork({ requestId: REQUEST });
      expect(first.error).not.toBeNull();
      expect((await driver.operation(REQUEST))?.status).toBe("provider_accepted");
      expect(await driver.fork({ requestId: REQUEST })).toMatchObject({ error: null, status: "committed" });
      await expectCalls(driver, 1);
      await expectTraces(driver, 1);
    },
  },
  {
    name: "recovery commits what the agent accepted without asking it",
    async run(driver) {
      await driver.reset({ recoverProviderAccepted: true });
      expect(await driver.recover()).toEqual([]);
      expect((await driver.operation())?.status).toBe("committed");
      await expectCalls(driver, 0);
      await expectTraces(driver, 1);
    },
  },
  {
    name: "recovery ends what can never be committed as failed, with no error and without asking the agent",
    async run(driver) {
      await driver.reset({ recoverProviderAccepted: true, recoverPermanentlyInconsistent: true });
      expect(await driver.recover()).toEqual([]);
      const failed = await driver.operation();
      expect(failed).toMatchObject({ status: "failed", sessionId: null });
      expect(failed?.agentSessionId).not.toBeNull();
      await expectCalls(driver, 0);
      await expectTraces(driver, 0);
    },
  },
  {
    name: "a source at work is forked at an earlier turn",
    async run(driver) {
      await driver.reset({ keepSourceActive: true });
      expect(await driver.fork({ requestId: REQUEST })).toMatchObject({ error: null, status: "committed" });
      await expectCalls(driver, 1);
      await expectTraces(driver, 1);
    },
  },
];

const MORE: readonly ForkScenario[] = [
  {
    name: "a committed fork replays to the same session with no call and no other session",
    async run(driver) {
      await driver.reset({});
      const first = await driver.fork({ requestId: REQUEST });
      expect(await driver.fork({ requestId: REQUEST })).toEqual(first);
      await expectCalls(driver, 1);
      await expectTraces(driver, 1);
    },
  },
  {
    name: "the same request id with another input is a conflict and changes nothing",
    async run(driver) {
      await driver.reset({});
      const first = await driver.fork({ requestId: REQUEST });
      expect(await driver.fork({ requestId: REQUEST, title: "other" })).toMatchObject({
        error: "request_conflict",
      });
      expect(await driver.operation(REQUEST)).toMatchObject({ sessionId: first.sessionId });
      await expectCalls(driver, 1);
      await expectTraces(driver, 1);
    },
  },
  {
    name: "a turn that goes on is refused, and nothing is made",
    async run(driver) {
      await driver.reset({ keepSourceActive: true });
      expect(await driver.fork({ turn: 3 })).toMatchObject({ error: "turn_not_settled" });
      await expectCalls(driver, 0);
      await expectTraces(driver, 0);
    },
  },
  {
    name: "an agent that breaks off leaves the fork unknown, and is never asked again",
    async run(driver) {
      await driver.reset({ agent: "breaks off" });
      for (let again = 0; again < 2; again += 1) {
        expect(await driver.fork({ requestId: REQUEST })).toMatchObject({ error: "fork_unknown" });
        expect(await driver.recover()).toEqual([]);
        expect((await driver.operation(REQUEST))?.status).toBe("unknown");
      }
      await expectCalls(driver, 1);
      await expectTraces(driver, 0);
    },
  },
  {
    name: "an agent that names the source's conversation as the fork's leaves it unknown",
    async run(driver) {
      await driver.reset({ agent: "names its source" });
      expect(await driver.fork({ requestId: REQUEST })).toMatchObject({ error: "fork_unknown" });
      await expectTraces(driver, 0);
    },
  },
  {
    name: "an agent that refuses ends the fork as failed, and another request may fork the same turn",
    async run(driver) {
      await driver.reset({ agent: "refuses" });
      expect(await driver.fork({ requestId: REQUEST })).toMatchObject({ error: "fork_failed" });
      expect((await driver.operation(REQUEST))?.status).toBe("failed");
      expect(await driver.fork({ requestId: REQUEST })).toMatchObject({ error: "fork_failed" });
      await expectCalls(driver, 1);
      await expectTraces(driver, 0);
    },
  },
  {
    name: "recovery marks a fork unknown whose process died while the agent was asked, and asks nobody",
    async run(driver) {
      await driver.reset({ recoverDispatching: true });
      expect(await driver.recover()).toEqual([]);
      expect((await driver.operation())?.status).toBe("unknown");
      await expectCalls(driver, 0);
      await expectTraces(driver, 0);
    },
  },
  {
    name: "recovery runs a fork that was prepared, with one call",
    async run(driver) {
      await driver.reset({ recoverPrepared: true });
      expect(await driver.recover()).toEqual([]);
      expect((await driver.operation())?.status).toBe("committed");
      await expectCalls(driver, 1);
      await expectTraces(driver, 1);
    },
  },
  {
    name: "a second recovery changes nothing",
    async run(driver) {
      await driver.reset({ recoverProviderAccepted: true });
      await driver.recover();
      const before = [await driver.operation(), await driver.traces()];
      expect(await driver.recover()).toEqual([]);
      expect([await driver.operation(), await driver.traces()]).toEqual(before);
      await expectCalls(driver, 0);
    },
  },
  {
    name: "different turns of one source, and one turn twice, are forks of their own",
    async run(driver) {
      await driver.reset({});
      const made = [
        await driver.fork({ requestId: "one", turn: 1 }),
        await driver.fork({ requestId: "two", turn: 2 }),
        await driver.fork({ requestId: "three", turn: 2 }),
      ];
      expect(new Set(made.map(({ sessionId }) => sessionId)).size).toBe(3);
      await expectCalls(driver, 3);
      await expectTraces(driver, 3);
    },
  },
];

export const FORK_SCENARIOS: readonly ForkScenario[] = [...PINNED_FORKS, ...MORE];
