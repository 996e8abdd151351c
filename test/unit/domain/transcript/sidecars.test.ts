import { describe, expect, test } from "vitest";
import { encodeEventIndex, parseEventIndex } from "../../../../src/domain/transcript/event-index.ts";
import {
  decideInFlight,
  type InFlightFacts,
  type InFlightTurn,
} from "../../../../src/domain/transcript/in-flight-turn.ts";
import { encodeLedger, parseLedger } from "../../../../src/domain/transcript/ledger.ts";
import { copyNames, copyRef, transcriptPaths } from "../../../../src/domain/transcript/names.ts";

const DIGEST = "ab".repeat(32);
const OWNER = "shop/shop-1";
const OTHER = "cd".repeat(32);

const TURN: InFlightTurn = {
  ...{ id: "m", turnId: "t", startCount: 2, startDigest: DIGEST, keeps: "prompt" },
  ...{ startedAtMs: 1, commitDigest: null },
};
const LEDGER = {
  ...{ revision: 3, writer: "w", inFlight: TURN },
  committed: { count: 2, digest: DIGEST, revision: 2 },
};

describe("a ledger", () => {
  test("is read back as it was written, with and without what may be missing", () => {
    for (const ledger of [LEDGER, { ...LEDGER, committed: null, inFlight: null, writer: null }]) {
      expect(parseLedger(encodeLedger(ledger, OWNER), OWNER)).toEqual({ kind: "ledger", ledger });
    }
  });

  test.each([
    [undefined, "absent"],
    ["", "absent"],
    ["\0\0\0\0", "absent"],
    [" \n", "absent"],
    ['{"schemaVersion":2}', "newer"],
    ['{"schemaVersion":1}', "unreadable"],
    [encodeLedger(LEDGER, OWNER).slice(0, 40), "unreadable"],
    [encodeLedger(LEDGER, OWNER).replace('"revision":3', '"revision":-3'), "unreadable"],
    [encodeLedger(LEDGER, OWNER).replace(DIGEST, "xyz"), "unreadable"],
    [encodeLedger(LEDGER, OWNER).replace('"keeps":"prompt"', '"keeps":1'), "unreadable"],
    [encodeLedger(LEDGER, "shop/shop-2"), "foreign"],
    ["[]", "unreadable"],
  ])("%j is %s", (text, kind) => {
    expect(parseLedger(text, OWNER).kind).toBe(kind);
  });
});

describe("an event index", () => {
  const index = {
    ...{ logBytes: 10, lastRecordOffset: 5, revision: 2, digest: DIGEST, isWhole: true },
    checkpoint: { bytes: 7, tailDigest: OTHER },
  };

  test("is read back as it was written", () => {
    for (const one of [index, { ...index, checkpoint: null }]) {
      expect(parseEventIndex(encodeEventIndex(one))).toEqual(one);
    }
  });

  test.each([
    undefined,
    "",
    "\0\0",
    encodeEventIndex(index).slice(0, 30),
    encodeEventIndex(index).replace('"schemaVersion":1', '"schemaVersion":2'),
    encodeEventIndex(index).replace('"logBytes":10', '"logBytes":1.5'),
    encodeEventIndex(index).replace('"bytes":7', '"bytes":"7"'),
  ])("%j is none", (text) => {
    expect(parseEventIndex(text)).toBeUndefined();
  });
});

describe("decideInFlight", () => {
  const prompt = { role: "user", turnId: "t" };
  const answer = { role: "assistant", turnId: "t" };
  const facts: InFlightFacts = { turn: TURN, digest: OTHER, digestAtStart: DIGEST, after: [prompt, answer] };

  test.each<[string, Partial<InFlightFacts>, object]>([
    ["a partial turn is cut behind its prompt", {}, { kind: "strip", keep: 3 }],
    [
      "behind its start when it keeps no prompt",
      { turn: { ...TURN, keeps: "nothing" } },
      { kind: "strip", keep: 2 },
    ],
    ["behind its start when there is no prompt", { after: [answer] }, { kind: "strip", keep: 2 }],
    [
      "messages of no turn are its own",
      { after: [prompt, { ...answer, turnId: null }] },
      { kind: "strip", keep: 3 },
    ],
    ["its prompt alone stays", { after: [prompt] }, { kind: "nothing_saved" }],
    ["nothing is nothing", { after: [] }, { kind: "nothing_saved" }],
    ["a committed one is whole", { turn: { ...TURN, commitDigest: OTHER } }, { kind: "committed" }],
    [
      "another commit is not its own",
      { turn: { ...TURN, commitDigest: DIGEST } },
      { kind: "strip", keep: 3 },
    ],
    ["a start that is elsewhere is not cut", { digestAtStart: OTHER }, { kind: "start_not_found" }],
    ["a start that is not there is not cut", { digestAtStart: undefined }, { kind: "start_not_found" }],
    ["later turns are not cut", { after: [prompt, { ...prompt, turnId: "later" }] }, { kind: "later_turns" }],
  ])("%s", (_fact, over, verdict) => {
    expect(decideInFlight({ ...facts, ...over })).toEqual(verdict);
  });
});

describe("the names of a transcript", () => {
  const ref = { folder: "/d", name: "app-1" };

  test("begin with the session, and only those of the log and the checkpoint end as conversations do", () => {
    const { folder: _folder, name: _name, owner: _owner, ...paths } = transcriptPaths(ref);
    expect(paths).toEqual({
      log: "/d/app-1.events.jsonl",
      checkpoint: "/d/app-1.jsonl",
      ledger: "/d/app-1.jsonl.meta",
      index: "/d/app-1.event-index.json",
      salvage: "/d/app-1.events.jsonl.damaged",
    });
  });

  test("of its copies are found among those of others", () => {
    const copy = copyRef(ref, DIGEST);
    expect(copy.name).toBe("app-1-recovery-abababababababab");
    const files = [
      ...Object.values(transcriptPaths(copy)).map((path) => path.slice("/d/".length)),
      ...["app-1.events.jsonl", "app-12-recovery-ab.events.jsonl", "app-1-recovery-x.jsonl"],
    ];
    expect(copyNames(ref, files)).toEqual([copy.name]);
  });
});
