import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PANE_FORMAT, type PaneRow, parsePaneList } from "../../../../src/adapters/tmux/pane-list.ts";

const END = "ao-server\t4711\t3.3a\n";

const alive: PaneRow = {
  sessionId: "$3",
  paneId: "%4",
  serverPid: 4711,
  panePid: 5000,
  dead: false,
  exitStatus: null,
  signal: null,
  diedAtMs: null,
  lastOutputAtMs: 1_700_000_000_000,
  inputOff: false,
  bracketedPaste: null,
  createdAtMs: 1_600_000_000_000,
  launchId: "launch-1",
  aoSessionId: "app-1",
  owner: "abcd",
  isAgents: true,
};

describe("parsePaneList", () => {
  test.each<[string, string, Partial<PaneRow>]>([
    ["alive", "$3\t%4\t4711\t5000\t0\t\t\t\t1700000000\t0\t\t1600000000\tlaunch-1\tapp-1\tabcd\tagent", {}],
    [
      "exited with 7",
      "$3\t%4\t4711\t5000\t1\t7\t\t1690000000\t1700000000\t0\t\t1600000000\tlaunch-1\tapp-1\tabcd\tagent",
      { dead: true, exitStatus: 7, diedAtMs: 1_690_000_000_000 },
    ],
    [
      "exited with 0",
      "$3\t%4\t4711\t5000\t1\t0\t\t\t1700000000\t0\t\t1600000000\tlaunch-1\tapp-1\tabcd\tagent",
      { dead: true, exitStatus: 0 },
    ],
    [
      "killed, by number",
      "$3\t%4\t4711\t5000\t1\t\t9\t\t1700000000\t0\t\t1600000000\tlaunch-1\tapp-1\tabcd\tagent",
      { dead: true, signal: "SIGKILL" },
    ],
    [
      "killed, by name",
      "$3\t%4\t4711\t5000\t1\t\tkill\t\t1700000000\t0\t\t1600000000\tlaunch-1\tapp-1\tabcd\tagent",
      { dead: true, signal: "SIGKILL" },
    ],
    [
      "killed, status unknown yet",
      "$3\t%4\t4711\t5000\t1\t\t\t\t1700000000\t0\t\t1600000000\tlaunch-1\tapp-1\tabcd\tagent",
      { dead: true },
    ],
    [
      "closed to input",
      "$3\t%4\t4711\t5000\t0\t\t\t\t1700000000\t1\t\t1600000000\tlaunch-1\tapp-1\tabcd\tagent",
      { inputOff: true },
    ],
    [
      "somebody else's",
      "$3\t%4\t4711\t5000\t0\t\t\t\t1700000000\t0\t\t1600000000\t\t\t\t",
      { launchId: "", aoSessionId: "", owner: "", isAgents: false },
    ],
    [
      "silent so far",
      "$3\t%4\t4711\t5000\t0\t\t\t\t\t0\t\t1600000000\tlaunch-1\tapp-1\tabcd\tagent",
      { lastOutputAtMs: null },
    ],
    [
      "fed by pastes that are text",
      "$3\t%4\t4711\t5000\t0\t\t\t\t1700000000\t0\t1\t1600000000\tlaunch-1\tapp-1\tabcd\tagent",
      { bracketedPaste: true },
    ],
    [
      "fed by pastes that are keys",
      "$3\t%4\t4711\t5000\t0\t\t\t\t1700000000\t0\t0\t1600000000\tlaunch-1\tapp-1\tabcd\tagent",
      { bracketedPaste: false },
    ],
  ])("a pane that is %s", (_name, line, patch) => {
    expect(parsePaneList(`${line}\n${END}`)).toEqual({
      serverPid: 4711,
      serverVersion: "3.3a",
      panes: [{ ...alive, ...patch }],
    });
  });

  test("a server without panes is an answer", () => {
    expect(parsePaneList(END)?.panes).toEqual([]);
  });

  const line = "$3\t%4\t4711\t5000\t0\t\t\t\t1700000000\t0\t\t1600000000\tlaunch-1\tapp-1\tabcd\tagent\n";
  test.each([
    ["nothing", ""],
    ["no end", line],
    ["half a line", `${line}$5\t%6\t47`],
    ["a line with too few fields", `$3\t%4\t4711\n${END}`],
    ["tabs turned into underscores", line.replaceAll("\t", "_") + END],
    ["a pid that is none", line.replace("4711", "") + END],
    ["another program's words", `Usage: tmux [options]\n${END}`],
    ["an end of another word", `${line}other\t4711\t3.3a\n`],
    ["an end that is cut short", `${line}ao-server\t47`],
  ])("%s is no answer", (_name, output) => {
    expect(parsePaneList(output)).toBeUndefined();
  });

  test("no proper part of an answer is taken for the whole", () => {
    const answer = `${line}${line.replaceAll("4", "6")}${END}`;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: answer.length - 2 }), (length) => {
        const part = parsePaneList(answer.slice(0, length));
        expect(part === undefined || part.panes.length === 2).toBe(true);
      }),
    );
  });

  test("the format asks for nothing that a user could have written", () => {
    expect(PANE_FORMAT).not.toMatch(/title|name|path|command/);
  });
});
