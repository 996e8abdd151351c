import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Io } from "../../../cmd/io.ts";
import { startProgress } from "../../../cmd/progress.ts";

/** A terminal on stderr; `drawn` is what was drawn on it, `lines` what was written to it as lines. */
function aTerminal(env: Readonly<Record<string, string>>) {
  const drawn: string[] = [];
  const lines: string[] = [];
  const stream = new PassThrough().on("data", (chunk) => drawn.push(String(chunk)));
  const moves = { cursorTo: () => true, clearLine: () => true, moveCursor: () => true };
  const terminal = Object.assign(stream, { isTTY: true, columns: 80, ...moves });
  const stderr = { isTTY: true, terminal, writable: true, write: (text: string) => lines.push(text) };
  return { io: { env, stderr } as unknown as Io, drawn: () => drawn.join(""), lines };
}

describe("progress", () => {
  test("is drawn on a terminal, with the step that is under way", () => {
    const { io, drawn, lines } = aTerminal({ TERM: "xterm" });
    const progress = startProgress({ io, quiet: false, verbose: false });
    onTestFinished(() => progress.clear());
    progress.step("creating worktree");
    expect(drawn()).toContain("creating worktree");
    expect(lines).toEqual([]);
  });

  test.each([
    ["with --verbose is a line a step", { TERM: "xterm" }, false, true, ["ao: creating worktree\n"]],
    ["with --json is nothing", { TERM: "xterm" }, true, false, []],
    ["on a dumb terminal is nothing", { TERM: "dumb" }, false, false, []],
  ] as const)("%s", (_title, env, quiet, verbose, expected) => {
    const { io, drawn, lines } = aTerminal(env);
    startProgress({ io, quiet, verbose }).step("creating worktree");
    expect(lines).toEqual(expected);
    expect(drawn()).toBe("");
  });
});
