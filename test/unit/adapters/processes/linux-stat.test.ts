import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseStat } from "../../../../src/adapters/processes/linux-stat.ts";

/** A line as Linux 6.1 writes it, with the fields that matter filled in. */
function aLine({
  pid = 42,
  command = "sleep",
  state = "S",
  parentPid = 7,
  threads = 1,
  startTime = "100236",
} = {}) {
  const rest = "42 42 0 -1 4194304 101 0 0 0 0 0 0 0 20 0";
  const tail = "3133440 410 18446744073709551615 94752348606464 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0";
  return `${pid} (${command}) ${state} ${parentPid} ${rest} ${threads} 0 ${startTime} ${tail}\n`;
}

describe("parseStat", () => {
  test("reads pid, parent, start time and command", () => {
    expect(parseStat(aLine())).toEqual({
      pid: 42,
      parentPid: 7,
      startTime: "100236",
      dead: false,
      command: "sleep",
      ignoresTerm: false,
    });
  });

  test("tells that an interactive shell ignores TERM", () => {
    const line = aLine().replace(" 17 1 0 0 0", " 17 1 2 3686404 1266761467");
    expect(parseStat(line)).toMatchObject({ ignoresTerm: true });
  });

  test.each([
    ["a parenthesis and a state", "a) Z 1 (b"],
    ["a whole line of its own", "x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 666 0"],
    ["a newline", "a\nb"],
    ["nothing", ""],
    ["only spaces", "   "],
    ["only parentheses", ")))((("],
  ])("a command that holds %s hides nothing", (_what, command) => {
    expect(parseStat(aLine({ command }))).toMatchObject({
      pid: 42,
      parentPid: 7,
      startTime: "100236",
      command,
    });
  });

  test.each([
    ["running", "R", 1, false],
    ["sleeping without interruption", "D", 1, false],
    ["stopped", "T", 1, false],
    ["a zombie", "Z", 1, true],
    ["a main thread that ended before its others", "Z", 3, false],
    ["dead", "X", 1, true],
    ["dead on an older kernel", "x", 1, true],
  ])("%s: state %s with %d threads", (_what, state, threads, dead) => {
    expect(parseStat(aLine({ state, threads }))?.dead).toBe(dead);
  });

  test.each([
    ["nothing", ""],
    ["no command", "42 S 7"],
    ["an open parenthesis", "42 (sleep S 7"],
    ["too few fields", "42 (sleep) S 7 42"],
    ["a start time that is no number", aLine({ startTime: "soon" })],
    ["a pid that is no number", `x${aLine()}`],
  ])("%s is no stat line", (_what, text) => {
    expect(parseStat(text)).toBeUndefined();
  });

  test("gives back pid and start time whatever the command is", () => {
    const anyPid = fc.integer({ min: 1, max: 2 ** 22 });
    const anyTicks = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String);
    fc.assert(
      fc.property(anyPid, fc.string({ unit: "binary" }), anyTicks, (pid, command, startTime) => {
        expect(parseStat(aLine({ pid, command, startTime }))).toMatchObject({ pid, startTime, command });
      }),
    );
  });
});
