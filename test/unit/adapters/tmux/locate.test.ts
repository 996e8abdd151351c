import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ServerAnswer } from "../../../../src/adapters/tmux/ask-server.ts";
import { decideLocation, type Location } from "../../../../src/adapters/tmux/locate.ts";
import type { PaneRow } from "../../../../src/adapters/tmux/pane-list.ts";
import type { ProcessFact } from "../../../../src/domain/facts.ts";
import type { RuntimeTarget } from "../../../../src/ports/runtime.ts";
import { aProcess, aRuntimeHandle, launchId, sessionId } from "../../../support/builders.ts";

const SERVER_PID = 4711;

const target: RuntimeTarget = {
  sessionId: sessionId("app-1"),
  launchId: launchId("launch-1"),
  handle: aRuntimeHandle({ id: "$3", paneId: "%4", server: aProcess({ pid: SERVER_PID }) }),
  process: aProcess(),
};

function aPane(patch: Partial<PaneRow> = {}): PaneRow {
  return {
    sessionId: "$3",
    paneId: "%4",
    serverPid: SERVER_PID,
    panePid: 5000,
    dead: false,
    exitStatus: null,
    signal: null,
    diedAtMs: null,
    lastOutputAtMs: null,
    inputOff: false,
    bracketedPaste: null,
    createdAtMs: 1_600_000_000_000,
    launchId: "launch-1",
    aoSessionId: "app-1",
    owner: "abcd",
    isAgents: true,
    ...patch,
  };
}

function panes(rows: readonly PaneRow[], serverPid = SERVER_PID): ServerAnswer {
  return { kind: "panes", serverPid, serverVersion: "3.3a", panes: rows };
}

const alive: ProcessFact = { kind: "alive" };
const dead: ProcessFact = { kind: "dead" };
const unsure: ProcessFact = { kind: "indeterminate" };
const blind: ProcessFact = { kind: "probe_failed", cause: "no /proc" };
const silent: ServerAnswer = { kind: "no_server" };
const broken: ServerAnswer = { kind: "failed", cause: "resource temporarily unavailable" };

describe("decideLocation", () => {
  test.each<[string, ServerAnswer, ProcessFact, Location["kind"]]>([
    ["its pane is listed", panes([aPane()]), alive, "found"],
    ["its pane is listed among others", panes([aPane({ paneId: "%1" }), aPane()]), alive, "found"],
    ["its pane is listed and its server cannot be looked at", panes([aPane()]), blind, "found"],
    ["its own server does not list it", panes([]), alive, "gone"],
    ["the pane id belongs to another launch", panes([aPane({ launchId: "launch-2" })]), alive, "gone"],
    [
      "the pane has its launch and another session's id",
      panes([aPane({ aoSessionId: "app-2" })]),
      alive,
      "gone",
    ],
    [
      "another pane has its launch and another session's id",
      panes([aPane({ paneId: "%5", aoSessionId: "app-2" })]),
      alive,
      "gone",
    ],
    ["its session has other panes only", panes([aPane({ paneId: "%5" })]), alive, "closed"],
    ["its session has other panes, of a dead server", panes([aPane({ paneId: "%5" })]), dead, "gone"],
    [
      "the session id belongs to another pane of another launch",
      panes([aPane({ paneId: "%5", launchId: "launch-2" })]),
      alive,
      "gone",
    ],
    [
      "the session id belongs to another pane of a new server",
      panes([aPane({ paneId: "%5", serverPid: 1 })], 1),
      dead,
      "gone",
    ],
    ["its pane is in another session now", panes([aPane({ sessionId: "$5" })]), alive, "gone"],
    ["a new server answers and its own is dead", panes([aPane({ serverPid: 1 })], 1), dead, "gone"],
    ["a new server answers and its own lives", panes([], 1), alive, "unknown"],
    ["a new server answers and its own cannot be told", panes([], 1), unsure, "unknown"],
    ["its server's pid answers but may be another's", panes([]), unsure, "unknown"],
    ["nobody answers and its server is dead", silent, dead, "gone"],
    ["nobody answers and its server lives", silent, alive, "unknown"],
    ["nobody answers and its server cannot be told", silent, unsure, "unknown"],
    ["nobody answers and processes cannot be looked at", silent, blind, "unknown"],
    ["tmux failed", broken, alive, "unknown"],
    ["tmux failed and its server cannot be told", broken, unsure, "unknown"],
    ["tmux failed but its server is dead", broken, dead, "gone"],
  ])("%s", (_name, answer, server, expected) => {
    expect(decideLocation(target, answer, server).kind).toBe(expected);
  });

  test.each(["ao reconcile", `kill -USR1 ${SERVER_PID}`])(
    "a server that lives without its socket is named with what to do: %s",
    (remedy) => {
      expect(decideLocation(target, silent, alive)).toEqual({
        kind: "unknown",
        cause: expect.stringContaining(remedy),
      });
    },
  );

  test.each([unsure, blind])("a server that may be dead gets no signal by advice", (server) => {
    const location = decideLocation(target, silent, server);
    expect(location).toMatchObject({ kind: "unknown", cause: expect.not.stringContaining("kill") });
  });

  test("nothing that failed makes a runtime gone while its server may live", () => {
    const answer = fc.constantFrom<ServerAnswer>(
      silent,
      broken,
      panes([], 1),
      panes([aPane({ serverPid: 1 })], 1),
    );
    const server = fc.constantFrom<ProcessFact>(alive, unsure, blind);
    fc.assert(
      fc.property(answer, server, (given, fact) => {
        expect(decideLocation(target, given, fact).kind).toBe("unknown");
      }),
    );
  });
});
