import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { sqliteStore } from "../../../../src/adapters/sqlite/store.ts";
import { sessionId } from "../../../support/builders.ts";
import { aDelivery, aMessage, aMessageIn } from "../../../support/messages.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { aSettledTurn, aTurn } from "../../../support/turns.ts";

/** A store on disk, and somebody who writes into its database without asking. */
function aStore() {
  const path = join(tempDir(), "ao.db");
  const store = sqliteStore({ path });
  onTestFinished(() => store.close());
  const db = new Database(path);
  onTestFinished(() => void db.close());
  return { ...store, tamper: (sql: string) => db.exec(`PRAGMA ignore_check_constraints = ON; ${sql}`) };
}

describe("a turn whose row was damaged", () => {
  test.each([
    ["origin = 'nobody'", "origin"],
    ["phase = 'asleep'", "kind"],
    ["error = '{}'", "error.code"],
    ["start_checkpoint = '{\"ref\":1}'", "checkpoints.start.ref"],
    ["created_at = -9007199254740992", "createdAtMs"],
    ["launch_id = '../x'", "launchId"],
  ])("by %s is named with %s, and hides no other", (change, flaw) => {
    const { turns, tamper } = aStore();
    turns.insert(aSettledTurn());
    turns.insert(aTurn({ turnId: "turn-2", sequence: 2 }));
    tamper(`UPDATE turns SET ${change} WHERE id = 'turn-2'`);
    expect(turns.ofSession(sessionId("app-1"), 10)).toEqual({
      turns: [aSettledTurn()],
      unreadable: [{ sessionId: "app-1", turnId: "turn-2", flaw: expect.stringContaining(flaw) }],
    });
    expect(turns.allLive().unreadable).toHaveLength(1);
    for (const read of [() => turns.live(sessionId("app-1")), () => turns.newest(sessionId("app-1"))]) {
      expect(read).toThrow(expect.objectContaining({ code: "store_corrupt" }));
    }
  });
});

describe("a message whose row was damaged", () => {
  test.each(["state = 'lost'", "delivery = '{}'", "channel = 'pigeon'"])(
    "by %s is not taken for another",
    (change) => {
      const { messages, tamper } = aStore();
      const message = aMessageIn({ kind: "delivering", delivery: aDelivery() });
      messages.insert(message);
      tamper(`UPDATE messages SET ${change}`);
      expect(() => messages.get(message.id)).toThrow(expect.objectContaining({ code: "store_corrupt" }));
    },
  );

  test("holds no other session's messages up", () => {
    const { messages, tamper } = aStore();
    messages.insert(aMessage());
    messages.insert(aMessage({ id: "message-2", sessionId: "app-2" }));
    tamper("UPDATE messages SET channel = 'pigeon' WHERE session_id = 'app-1'");
    expect(messages.queued(sessionId("app-2"))).toHaveLength(1);
    expect(messages.sessionsWaiting()).toEqual(["app-1", "app-2"]);
  });
});
