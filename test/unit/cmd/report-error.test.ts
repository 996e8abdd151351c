import { CommanderError } from "commander";
import { describe, expect, test } from "vitest";
import { reportError, toAoError } from "../../../cmd/report-error.ts";
import { AoError } from "../../../src/domain/errors.ts";
import { memoryCli } from "../../support/memory-cli.ts";
import { aWorld } from "../../support/world.ts";

const plain = (_color: string, text: string) => text;

/** What a person is shown of an error. */
function shown(error: AoError): string {
  let text = "";
  const io = { env: {}, stderr: { write: (more: string) => (text += more) } };
  reportError(error, { io: io as never, json: false, paint: plain });
  return text;
}

describe("usage errors", () => {
  test.each<[string, readonly string[], string]>([
    ["an argument too many", ["spawn", "42", "43"], "hint: see: ao spawn --help"],
    ["a group without a command", ["config"], "hint: see: ao config --help"],
    ["the version asked for by a word", ["version"], "hint: did you mean ao --version?"],
    ["a shell that there is none for", ["completion", "powershell"], "hint: one of bash, zsh, fish"],
    [
      "a format that there is none of",
      ["transcript", "export", "app-1", "--format", "pdf"],
      "hint: one of markdown, jsonl",
    ],
    ["help on no command", ["help", "spwan"], "hint: see: ao --help"],
    [
      "a flag unknown to a command of a group",
      ["transcript", "prune", "--dry"],
      "see: ao transcript prune --help",
    ],
    ["a command of a group without its argument", ["goal", "fence"], "hint: see: ao goal fence --help"],
    ["a group, what it needs", ["transcript"], "ao: ao transcript needs one of its commands behind it"],
    [
      "what is set in the configuration",
      ["pool"],
      "hint: ao reconcile makes worktrees ahead: pool in ao.yaml",
    ],
  ])("%s names what helps", async (_name, argv, hint) => {
    const { stderr, exitCode } = await memoryCli(aWorld(), argv);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(hint);
    expect(stderr).not.toContain("outputHelp");
  });

  test("what commander says of no command is in words of ours", () => {
    const error = toAoError(new CommanderError(1, "commander.help", "(outputHelp)"));
    expect(error).toMatchObject({ code: "usage", hint: "see: ao --help" });
  });
});

test.each([
  [["completion", "powershell"], 'ao: <shell> cannot be "powershell"'],
  [["transcript", "export", "app-1", "--format", "a\nb"], 'ao: --format <format> cannot be "a\\nb"'],
])("a value that is none of the choices is one line in words of ours: %j", async (argv, line) => {
  const { stderr } = await memoryCli(aWorld(), argv);
  expect(stderr.split("\n")[0]).toBe(line);
});

test("one unknown name among several says that nothing was done to the others", async () => {
  const world = aWorld();
  await world.spawn({ issueId: "1" });
  world.clearLog();
  const { stderr, exitCode } = await memoryCli(world, ["kill", "app-1", "app-9"]);
  expect({ exitCode, log: world.log }).toEqual({ exitCode: 3, log: [] });
  expect(stderr).toContain("nothing was done to the others");
});

describe("details", () => {
  test("a short output is shown whole, also a line that stands in the command", () => {
    const error = new AoError("post_create_failed", 'post-create command "echo bad; exit 7" failed with 7', {
      details: { output: ["bad", "worse"] },
    });
    expect(shown(error)).toContain("  bad\n  worse\n");
  });

  test("of a long output the end is shown, and how to see the rest", () => {
    const output = Array.from({ length: 80 }, (_, at) => `line ${at + 1}`);
    const error = new AoError("post_create_failed", "npm ci failed with 1", { details: { output } });
    const [, first, ...rest] = shown(error).trimEnd().split("\n");
    expect(first).toBe("  … 70 lines before these, which --json shows, too:");
    expect(rest).toEqual(output.slice(70).map((line) => `  ${line}`));
  });

  test("an output of one line that ends the message is not told twice", () => {
    const message = "the agent of app-1 exited with status 127 at its start: sh: 1: nope: not found";
    const error = new AoError("agent_start_failed", message, {
      details: { output: ["sh: 1: nope: not found"] },
    });
    expect(shown(error)).toBe(`ao: ${message}\n`);
  });

  test("a finding that the message tells already is not told twice", () => {
    const error = new AoError("workspace_dirty", "it stays: 1 untracked file: a", {
      details: { findings: [{ detail: "1 untracked file: a" }] },
    });
    expect(shown(error)).toBe("ao: it stays: 1 untracked file: a\n");
  });
});
