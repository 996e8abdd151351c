import { describe, expect, onTestFinished, test } from "vitest";
import { type LiveTurn, TURN_ORIGINS, TURN_OUTCOMES, type Turn } from "../../src/domain/turn.ts";
import type { Store } from "../../src/ports/store.ts";
import { aSession, sessionId, T0_MS } from "../support/builders.ts";
import { aSettledTurn, aTurn, aTurnIn, messageId } from "../support/turns.ts";

type Fresh = () => Store;

const SESSION = sessionId("app-1");
const checkpoint = { ref: "refs/ao/checkpoints/app-1/turn-1", commit: "a".repeat(40) };
const goal = { operationId: "goal-1", revision: 3, repairEpoch: 0 };

const idsOf = (turns: readonly Turn[]) => turns.map(({ turnId }) => turnId);

function rowTests(fresh: Fresh): void {
  test("an unknown turn is undefined, and so is one of another session", () => {
    const { turns } = fresh();
    turns.insert(aTurn());
    expect(turns.get(aTurn({ turnId: "turn-2" }))).toBeUndefined();
    expect(turns.get(aTurn({ sessionId: "app-2" }))).toBeUndefined();
    expect(turns.live(sessionId("app-2"))).toBeUndefined();
    expect(turns.newest(sessionId("app-2"))).toBeUndefined();
  });

  test.each<[string, Turn]>([
    ["a submitted one", aTurnIn({ kind: "submitted" }, { messageId: messageId() })],
    ["a running one", aTurn()],
    ["a waiting one", aTurnIn({ kind: "waiting" }, { updatedAtMs: T0_MS + 5, version: 3 })],
    ["a settling one", aTurnIn({ kind: "settling" })],
    ...TURN_OUTCOMES.map((outcome): [string, Turn] => [
      `a settled one, ${outcome}`,
      aTurnIn({ kind: "settled", outcome, atMs: T0_MS + 7 }, { updatedAtMs: T0_MS + 7 }),
    ]),
    ...TURN_ORIGINS.map((origin): [string, Turn] => [`one of origin ${origin}`, aTurn({ origin, goal })]),
    [
      "one with an error",
      aTurn({ error: { code: "api_error", message: "'; DROP TABLE turns; --\u0000🦉" } }),
    ],
    ["one with checkpoints", aTurn({ checkpoints: { start: checkpoint, end: { ...checkpoint, ref: "" } } })],
  ])("%s is read as it was written", (_what, turn) => {
    const { turns } = fresh();
    expect(turns.insert(turn)).toBe(true);
    expect(turns.get(turn)).toEqual(turn);
    expect(turns.newest(SESSION)).toEqual(turn);
    expect(turns.ofSession(SESSION, 10)).toEqual({ turns: [turn], unreadable: [] });
    const live = turn.state.kind === "settled" ? [] : [turn];
    expect(turns.live(SESSION)).toEqual(live[0]);
    expect(turns.allLive()).toEqual({ turns: live, unreadable: [] });
  });

  test.each<[string, Turn, Turn]>([
    ["its id is taken", aSettledTurn(), aSettledTurn({ sequence: 2 })],
    ["its sequence number is taken", aSettledTurn(), aSettledTurn({ turnId: "turn-2" })],
    ["another one goes on", aTurn(), aTurn({ turnId: "turn-2", sequence: 2 })],
  ])("a turn is not inserted when %s, and changes nothing", (_why, first, second) => {
    const { turns } = fresh();
    turns.insert(first);
    expect(turns.insert(second)).toBe(false);
    expect(turns.ofSession(SESSION, 10).turns).toEqual([first]);
  });

  test("what is taken in one session is free in another", () => {
    const { turns } = fresh();
    turns.insert(aTurn());
    expect(turns.insert(aTurn({ sessionId: "app-2" }))).toBe(true);
    expect(turns.allLive().turns.map((turn) => turn.sessionId)).toEqual(["app-1", "app-2"]);
  });

  test("a settled turn is inserted beside one that goes on", () => {
    const { turns } = fresh();
    turns.insert(aTurn());
    expect(turns.insert(aSettledTurn({ turnId: "turn-2", sequence: 2 }))).toBe(true);
    expect(turns.live(SESSION)).toEqual(aTurn());
  });
}

function saveTests(fresh: Fresh): void {
  const next = aTurnIn({ kind: "waiting" }, { version: 2, updatedAtMs: T0_MS + 1 });

  test("a save that names the stored version replaces the row", () => {
    const { turns } = fresh();
    turns.insert(aTurn());
    expect(turns.save(next, 1)).toBe(true);
    expect(turns.get(next)).toEqual(next);
  });

  test("a save that settles frees the place for the next turn, in the same transaction", () => {
    const { turns, sessions } = fresh();
    turns.insert(aTurn());
    const following: LiveTurn = aTurn({ turnId: "turn-2", sequence: 2 });
    const saved = sessions.transaction(() => [
      turns.save(aSettledTurn({ version: 2 }), 1),
      turns.insert(following),
    ]);
    expect(saved).toEqual([true, true]);
    expect(turns.live(SESSION)).toEqual(following);
  });

  test.each([0, 2])("a save that names version %i of a row at 1 changes nothing", (version) => {
    const { turns } = fresh();
    turns.insert(aTurn());
    expect(turns.save({ ...next, version: version + 1 }, version)).toBe(false);
    expect(turns.get(next)).toEqual(aTurn());
  });

  test("a settled turn is never replaced", () => {
    const { turns } = fresh();
    turns.insert(aSettledTurn());
    expect(turns.save(next, 1)).toBe(false);
    expect(turns.get(next)).toEqual(aSettledTurn());
  });

  test("a save of a turn that is not there adds none", () => {
    const { turns } = fresh();
    expect(turns.save(next, 1)).toBe(false);
    expect(turns.newest(SESSION)).toBeUndefined();
  });
}

function checkpointTests(fresh: Fresh): void {
  test("a checkpoint is kept once for each end, also of a settled turn", () => {
    const { turns } = fresh();
    const turn = aSettledTurn();
    turns.insert(turn);
    const other = { ...checkpoint, commit: "b".repeat(40) };
    expect(turns.keepCheckpoint(turn, "end", checkpoint)).toBe(true);
    expect(turns.keepCheckpoint(turn, "end", other)).toBe(false);
    expect(turns.keepCheckpoint(turn, "start", other)).toBe(true);
    expect(turns.get(turn)).toEqual({ ...turn, checkpoints: { start: other, end: checkpoint } });
  });

  test("a checkpoint outlives a save of the turn as it was read before", () => {
    const { turns } = fresh();
    turns.insert(aTurn());
    turns.keepCheckpoint(aTurn(), "start", checkpoint);
    turns.save(aSettledTurn({ version: 2 }), 1);
    expect(turns.get(aTurn())?.checkpoints).toEqual({ start: checkpoint, end: null });
  });

  test("a turn that is not there has none", () => {
    const { turns } = fresh();
    expect(turns.keepCheckpoint(aTurn(), "start", checkpoint)).toBe(false);
  });
}

function listTests(fresh: Fresh): void {
  test("the turns of a session are listed newest first, the newest of them alone when so asked", () => {
    const { turns } = fresh();
    for (const sequence of [2, 10, 1]) turns.insert(aSettledTurn({ turnId: `turn-${sequence}`, sequence }));
    turns.insert(aTurn({ sessionId: "app-2" }));
    expect(idsOf(turns.ofSession(SESSION, 10).turns)).toEqual(["turn-10", "turn-2", "turn-1"]);
    expect(idsOf(turns.ofSession(SESSION, 2).turns)).toEqual(["turn-10", "turn-2"]);
    expect(turns.newest(SESSION)?.turnId).toBe("turn-10");
  });
}

function transactionTests(fresh: Fresh): void {
  test("a throw undoes what was written here together with the session's row", () => {
    const { sessions, turns } = fresh();
    const problem = new Error("no");
    const attempt = () =>
      sessions.transaction(() => {
        sessions.insert(aSession());
        turns.insert(aTurn());
        turns.keepCheckpoint(aTurn(), "start", checkpoint);
        throw problem;
      });
    expect(attempt).toThrow(problem);
    expect(sessions.list()).toEqual([]);
    expect(turns.newest(SESSION)).toBeUndefined();
  });

  test("what a transaction wrote is seen inside it and stays", () => {
    const { sessions, turns } = fresh();
    const inside = sessions.transaction(() => {
      turns.insert(aTurn());
      return turns.live(SESSION);
    });
    expect(inside).toEqual(aTurn());
    expect(turns.live(SESSION)).toEqual(aTurn());
  });
}

/** What every `TurnStore` owes its callers. `open` makes a store with nothing in it. */
export function turnStoreContract(name: string, open: () => Store): void {
  const fresh = () => {
    const store = open();
    onTestFinished(() => store.close());
    return store;
  };

  describe(`${name} is a TurnStore`, () => {
    rowTests(fresh);
    saveTests(fresh);
    checkpointTests(fresh);
    listTests(fresh);
    transactionTests(fresh);
  });
}
