import { describe, expect, test } from "vitest";
import { parseProgramArgs } from "../../../../../src/adapters/agents/embedded/program/program-args.ts";

const ONE = "5f0c1f6e-0d5b-4b8e-9c8e-2f4f7a8b9c0d";
const TWO = "6f0c1f6e-0d5b-4b8e-9c8e-2f4f7a8b9c0d";

describe("the program's arguments", () => {
  test.each([
    ["nothing starts a conversation of its own", [], { kind: "new", id: null }],
    ["an id starts that one", ["--session-id", ONE], { kind: "new", id: ONE }],
    ["a resumption keeps the id", ["--resume", ONE], { kind: "resume", id: ONE }],
    [
      "a fork has a parent and a new id",
      ["--resume", ONE, "--fork", "--session-id", TWO],
      { kind: "fork", parentId: ONE, id: TWO },
    ],
  ])("%s", (_name, argv, start) => {
    expect(parseProgramArgs(argv)).toMatchObject({ kind: "run", start });
  });

  test.each([
    ["help", ["--help"], "help"],
    ["a version", ["--version"], "version"],
  ])("%s is asked for", (_name, argv, kind) => {
    expect(parseProgramArgs(argv)).toEqual({ kind });
  });

  test.each([
    ["an unknown option", ["--frobnicate"]],
    ["a stray word", ["word"]],
    ["an id that leads elsewhere", ["--session-id", "../../x"]],
    ["an id in capitals", ["--resume", ONE.toUpperCase()]],
    ["a fork without a new id", ["--resume", ONE, "--fork"]],
    ["a fork without a parent", ["--fork", "--session-id", ONE]],
    ["a resumption under another id", ["--resume", ONE, "--session-id", TWO]],
    ["an unknown permission mode", ["--permissions", "all"]],
    ["an option without its value", ["--model"]],
  ])("%s is refused", (_name, argv) => {
    expect(() => parseProgramArgs(argv)).toThrow(expect.objectContaining({ code: "usage" }));
  });
});
