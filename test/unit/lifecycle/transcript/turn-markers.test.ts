import { describe, expect, test } from "vitest";
import { memoryTranscriptFiles } from "../../../../src/adapters/memory/memory-transcript-files.ts";
import { canonicalJson } from "../../../../src/domain/canonical-json.ts";
import type { TurnKeeps } from "../../../../src/domain/transcript/in-flight-turn.ts";
import {
  aMessage,
  liveSession,
  loadAll,
  PATHS,
  REF,
  resumed,
  storeOn,
  turns,
} from "../../../support/transcripts.ts";

/** A transcript of one turn, in which another has begun. */
async function inATurn(keeps: TurnKeeps = "prompt") {
  const files = memoryTranscriptFiles();
  const store = storeOn(files);
  const session = liveSession(store);
  session.add(...turns(1));
  await session.save();
  const begun = await store.beginTurn(REF, { id: "marker", turnId: "turn-2", keeps });
  expect(begun).toMatchObject({ kind: "begun", head: session.base(), turn: { startCount: 2 } });
  return { files, store, session };
}

const [ASK, ANSWER] = turns(2) as [ReturnType<typeof aMessage>, ReturnType<typeof aMessage>];

describe("a turn whose writer died", () => {
  test.each([
    ["before anything of it was saved", [], "nothing_saved", turns(1), 0],
    ["with only its prompt saved", [ASK], "nothing_saved", [...turns(1), ASK], 0],
    ["in the middle", [ASK, ANSWER], "strip", [...turns(1), ASK], canonicalJson(ANSWER).length + 1],
  ])(
    "%s leaves the prompt, and what is cut is in the salvage",
    async (_when, said, kind, left, salvagedBytes) => {
      const { files, store, session } = await inATurn();
      session.add(...said);
      await session.save();
      expect(await store.resumeTurn(REF)).toMatchObject({
        kind: "resumed",
        verdict: { kind },
        salvagedBytes,
      });
      expect(await loadAll(store)).toEqual(left);
      expect((await store.verify(REF)).inFlight).toBeNull();
      expect(await store.verify(REF)).toMatchObject({ health: "healthy" });
      const salvage = Buffer.from(files.peek(PATHS.salvage) ?? []).toString();
      expect(salvage).toBe(kind === "strip" ? `${canonicalJson(ANSWER)}\n` : "");
      expect(await store.resumeTurn(REF)).toMatchObject({ verdict: null });
    },
  );

  test("leaves nothing when its prompt is not to be kept", async () => {
    const { store, session } = await inATurn("nothing");
    session.add(ASK, ANSWER);
    await session.save();
    expect(await store.resumeTurn(REF)).toMatchObject({ verdict: { kind: "strip", keep: 2 } });
    expect(await loadAll(store)).toEqual(turns(1));
  });

  test("keeps all that was told of it, where that was acknowledged", async () => {
    const { store, session } = await inATurn("said");
    session.add(ASK, ANSWER);
    await session.save();
    expect(await store.resumeTurn(REF)).toMatchObject({ verdict: { kind: "partial" }, salvagedBytes: 0 });
    expect(await loadAll(store)).toEqual(turns(1, 2));
    expect(await store.turnInFlight(REF)).toBeNull();
  });

  test("behind its last save is whole: only the marker goes", async () => {
    const { store, session } = await inATurn();
    session.add(ASK, ANSWER);
    const final = { after: session.base(), messages: [ASK, ANSWER] };
    expect(await store.prepareCommit(REF, "marker", final)).toBe(true);
    await session.save();
    expect(await store.resumeTurn(REF)).toMatchObject({ verdict: { kind: "committed" }, salvagedBytes: 0 });
    expect(await loadAll(store)).toEqual(turns(1, 2));
  });

  test("with later turns behind it is left as it is", async () => {
    const { store, session } = await inATurn();
    session.add(ASK, ...turns(3));
    await session.save();
    expect(await store.resumeTurn(REF)).toMatchObject({ verdict: { kind: "later_turns" } });
    expect(await loadAll(store)).toEqual([...turns(1), ASK, ...turns(3)]);
  });

  test("whose beginning was rewritten is left as it is", async () => {
    const { store, session } = await inATurn();
    await session.rewrite([aMessage({ text: "other" }), ASK, ANSWER]);
    expect(await store.resumeTurn(REF)).toMatchObject({ verdict: { kind: "start_not_found" } });
    expect((await loadAll(store)).length).toBe(3);
  });

  test("is not known any more when the ledger is lost: everything stays", async () => {
    const { files, store, session } = await inATurn();
    session.add(ASK, ANSWER);
    await session.save();
    await files.unlink(PATHS.ledger);
    expect(await store.resumeTurn(REF)).toMatchObject({ verdict: null });
    expect(await loadAll(store)).toEqual(turns(1, 2));
  });
});

describe("the marker of a turn", () => {
  test("can be the first thing of a transcript", async () => {
    const store = storeOn(memoryTranscriptFiles());
    await store.beginTurn(REF, { id: "marker", turnId: "turn-1", keeps: "prompt" });
    expect(await store.load(REF)).toEqual({ kind: "missing", wasCommitted: false });
    const session = liveSession(store);
    session.add(...turns(1));
    expect(await session.save()).toMatchObject({ kind: "saved" });
    expect((await store.verify(REF)).inFlight).toMatchObject({ id: "marker", startCount: 0 });
    expect(await store.resumeTurn(REF)).toMatchObject({ verdict: { kind: "strip", keep: 1 } });
  });

  test("is not there for nothing at all", async () => {
    const store = storeOn(memoryTranscriptFiles());
    expect(await store.resumeTurn(REF)).toEqual({ kind: "missing", wasCommitted: false });
    expect(await store.clearTurn(REF, "marker")).toBe(false);
  });

  test("outlives saves, rewrites and compactions", async () => {
    const { store } = await inATurn();
    const session = await resumed(store);
    session.add(ASK);
    await session.save();
    await session.compact();
    await session.rewrite(turns(1));
    expect((await store.verify(REF)).inFlight).toMatchObject({ id: "marker" });
  });
});
