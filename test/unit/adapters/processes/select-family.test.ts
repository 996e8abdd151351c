import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ProcessRow } from "../../../../src/adapters/processes/process-source.ts";
import { selectFamily } from "../../../../src/adapters/processes/select-family.ts";

function aRow(pid: number, parentPid: number, dead = false): ProcessRow {
  return { pid, parentPid, startTime: "1", dead, command: "sleep" };
}

/** 1 - 2 (caller's parent) - 3 (caller); 1 - 10 (root) - 11, 12; 11 - 13. */
const ROWS = [aRow(1, 0), aRow(2, 1), aRow(3, 2), aRow(13, 11), aRow(12, 10), aRow(11, 10), aRow(10, 1)];

function familyOf(
  rootPid: number | null,
  marked: readonly number[] = [],
  rows: readonly ProcessRow[] = ROWS,
) {
  return selectFamily({ rows, rootPid, marked: new Set(marked), callerPid: 3 }).map(({ pid }) => pid);
}

describe("selectFamily", () => {
  test.each<[string, readonly number[], readonly number[]]>([
    ["near descendants come before far ones", familyOf(10), [10, 12, 11, 13]],
    ["without a root only the marked belong", familyOf(null, [13]), [13]],
    ["the marked come after the descendants, each once", familyOf(11, [13, 12]), [11, 13, 12]],
    ["neither root nor marker is nobody", familyOf(null), []],
    ["the caller and its ancestors are excepted, marked or not", familyOf(2, [1, 2, 3]), []],
    ["the dead are excepted", familyOf(10, [], [aRow(10, 1), aRow(11, 10, true)]), [10]],
    ["a marked pid that is not listed is left out", familyOf(null, [99]), []],
    [
      "processes that claim each other as parent end the walk",
      familyOf(10, [], [aRow(10, 11), aRow(11, 10)]),
      [10, 11],
    ],
  ])("%s", (_fact, found, expected) => {
    expect(found).toEqual(expected);
  });

  test("nobody appears twice, nobody is dead and the caller is never there", () => {
    const anyRow = fc.record({ pid: fc.nat(20), parentPid: fc.nat(20), dead: fc.boolean() });
    const anyRows = fc.uniqueArray(anyRow, { selector: ({ pid }) => pid });
    fc.assert(
      fc.property(
        anyRows,
        fc.nat(20),
        fc.array(fc.nat(20)),
        fc.nat(20),
        (some, rootPid, marked, callerPid) => {
          const rows = some.map(({ pid, parentPid, dead }) => aRow(pid, parentPid, dead));
          const found = selectFamily({ rows, rootPid, marked: new Set(marked), callerPid });
          expect(new Set(found.map(({ pid }) => pid)).size).toBe(found.length);
          expect(found.every(({ pid, dead }) => !dead && pid !== callerPid)).toBe(true);
        },
      ),
    );
  });
});
