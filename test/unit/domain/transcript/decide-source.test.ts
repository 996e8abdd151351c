import { expect, test } from "vitest";
import { decideSource } from "../../../../src/domain/transcript/decide-source.ts";

const [A, B] = ["ab".repeat(32), "cd".repeat(32)];

const base = (revision: number, count: number, digest = A) => ({ revision, count, digest });
const held = (count: number, digestAtCommitted: string | undefined) => ({
  ...{ count, digest: digestAtCommitted ?? A, isDamaged: false, digestAtCommitted },
});
const log = (lost: number) => ({ kind: "log", lost });
const checkpoint = (lost: number) => ({ kind: "checkpoint", lost });
const nothing = (lost: number) => ({ kind: "nothing", lost });
const foreign = { kind: "foreign" };

test.each([
  ["a log alone", base(2, 4), null, null, log(0)],
  ["a ledger that is current", base(2, 4), base(2, 4), held(4, A), log(0)],
  ["a ledger that lags behind", base(3, 6), base(2, 4), held(4, A), log(0)],
  ["a ledger of another", base(2, 4), "foreign", held(9, A), log(0)],
  ["a ledger ahead of the same content", base(2, 4), base(9, 4), held(9, A), log(0)],
  ["a cut log, and a checkpoint as on record", base(2, 4, B), base(3, 6), held(6, A), checkpoint(0)],
  ["a cut log, and a checkpoint that goes on", base(2, 4, B), base(3, 6), held(8, A), checkpoint(0)],
  ["a cut log, and a checkpoint of something else", base(2, 4, B), base(3, 6), held(6, B), log(2)],
  ["a cut log, and a checkpoint that lagged", base(2, 4, B), base(3, 6), held(5, undefined), log(2)],
  ["a cut log that lost a rewind", base(2, 4, B), base(3, 1), null, log(0)],
  ["nothing at all", null, null, null, nothing(0)],
  ["a ledger alone", null, base(3, 6), null, nothing(6)],
  ["a checkpoint alone", null, null, held(6, undefined), checkpoint(0)],
  ["a checkpoint as on record", null, base(3, 6), held(6, A), checkpoint(0)],
  ["a checkpoint that lagged", null, base(3, 6), held(5, undefined), checkpoint(1)],
  ["a checkpoint of something else", null, base(3, 6), held(6, B), foreign],
  ["a checkpoint beside a ledger of another", null, "foreign", held(6, A), foreign],
] as const)("%s", (_what, head, committed, kept, source) => {
  expect(decideSource({ head, committed, held: kept })).toEqual(source);
});
