import { expect, test } from "vitest";
import { systemProcessTable } from "../../../../src/adapters/processes/system-process-table.ts";
import { captureLines, lastLines } from "../../../../src/adapters/tmux/capture.ts";
import type { TmuxAnswer } from "../../../../src/adapters/tmux/run-tmux.ts";

test.each<[string, string, number, readonly string[]]>([
  ["an empty screen has no lines", "\n\n\n", 5, []],
  ["blank lines at the end are dropped", "one\ntwo\n\n  \n", 5, ["one", "two"]],
  ["blank lines between stay", "one\n\ntwo\n", 5, ["one", "", "two"]],
  ["padding is dropped, indentation stays", "  one   \ntwo  \n", 5, ["  one", "two"]],
  ["only the last ones are given", "one\ntwo\nthree\n", 2, ["two", "three"]],
])("%s", (_name, screen, count, lines) => {
  expect(lastLines(screen, count)).toEqual(lines);
});

const capture = (answer: TmuxAnswer, dead = false) => {
  const deps = { run: async () => answer, processes: systemProcessTable() };
  return captureLines(deps, "/s", { paneId: "%4", dead, lines: 5 });
};

const ENDED = "one\ntwo\n\nao: the agent has ended with status 3; Ctrl-b d leaves\n";

test.each<[string, string, boolean, readonly string[]]>([
  ["a dead agent", ENDED, true, ["one", "two"]],
  ["a dead agent that said nothing", "ao: the agent has ended by signal 9; Ctrl-b d leaves\n", true, []],
  ["a dead agent, cut off,", "one\nao: the agent has ended with", true, ["one"]],
  ["a dead agent without it", "one\ntwo\n", true, ["one", "two"]],
  ["a live one that says the same itself", "ao: the agent has ended\n", false, ["ao: the agent has ended"]],
])(
  "of %s the screen is what it said, without tmux's line at its end",
  async (_whose, stdout, dead, lines) => {
    expect(await capture({ kind: "ok", stdout }, dead)).toEqual(lines);
  },
);

test("a pane that tmux does not know has no screen", async () => {
  const answer = { kind: "refused", refusal: "not_found", message: "can't find pane: %4" } as const;
  expect(await capture(answer)).toBeUndefined();
});

test.each<[string, TmuxAnswer]>([
  ["lost its server", { kind: "refused", refusal: "server_lost", message: "lost server" }],
  ["found no server", { kind: "refused", refusal: "no_server", message: "no server running on /s" }],
  ["refused for a reason of its own", { kind: "refused", refusal: "other", message: "EAGAIN" }],
  ["failed", { kind: "failed", cause: "tmux did not answer within 5000 ms" }],
])("a call that %s says nothing of the pane", async (_what, answer) => {
  await expect(capture(answer)).rejects.toMatchObject({ code: "runtime_unavailable" });
});
