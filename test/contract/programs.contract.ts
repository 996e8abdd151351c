import { relative } from "node:path";
import { describe, expect, test } from "vitest";
import type { Programs } from "../../src/ports/programs.ts";

/** Finds what `executables` names. */
export interface ProgramsUnderTest {
  readonly programs: Programs;
  /** Absolute path of the folder that the executables are in. */
  readonly root: string;
}

/** What every `Programs` owes its callers. `open` makes the executables, given relative to `root`. */
export function programsContract(
  name: string,
  open: (executables: readonly string[]) => ProgramsUnderTest,
): void {
  const EXECUTABLES = ["one/tool", "two/tool", "two/other", "work/tool", "work/bin/tool"];

  describe(`${name} is a Programs`, () => {
    test.each<[string, string, string, string | undefined]>([
      ["the first match of the search path wins", "tool", "one:two", "one/tool"],
      ["a folder without the program is passed over", "other", "one:two", "two/other"],
      ["a folder that is not there is passed over", "other", "none:two", "two/other"],
      ["a program in no folder is not found", "none", "one:two", undefined],
      ["an empty search path finds nothing", "tool", "", undefined],
      ["an empty name is not found", "", "one:two", undefined],
      ["a name that climbs is no name", "..", "one:two", undefined],
      ["a folder is no program", "bin", "work", undefined],
      ["the name is case-sensitive text, not a pattern", "t*l", "one:two", undefined],
    ])("%s", async (_title, tool, folders, expected) => {
      const { programs, root } = open(EXECUTABLES);
      const path = folders
        .split(":")
        .map((folder) => (folder === "" ? "" : `${root}/${folder}`))
        .join(":");
      const wanted = expected === undefined ? undefined : `${root}/${expected}`;
      expect(await programs.find(tool, path, `${root}/work`)).toBe(wanted);
    });

    test.each([":", "", ".", "bin", "./bin:../work", "~/bin"])(
      "the search path %j is relative, so nothing is found by it",
      async (path) => {
        const { programs, root } = open(EXECUTABLES);
        expect(await programs.find("tool", path, `${root}/work`)).toBeUndefined();
        expect(await programs.find("tool", `${path}:${root}/two`, `${root}/work`)).toBe(`${root}/two/tool`);
      },
    );

    test("a relative folder is passed over even when it leads to the program", async () => {
      const { programs, root } = open(EXECUTABLES);
      const towards = relative(process.cwd(), `${root}/one`);
      expect(await programs.find("tool", towards, root)).toBeUndefined();
    });

    test.each<[string, string | undefined]>([
      ["./tool", "work/tool"],
      ["bin/tool", "work/bin/tool"],
      ["../one/tool", "one/tool"],
      ["./other", undefined],
      ["bin/", undefined],
    ])("%s is found from the directory, not by the search path", async (tool, expected) => {
      const { programs, root } = open(EXECUTABLES);
      const wanted = expected === undefined ? undefined : `${root}/${expected}`;
      expect(await programs.find(tool, `${root}/two`, `${root}/work`)).toBe(wanted);
    });

    test("an absolute name is found wherever the directory is", async () => {
      const { programs, root } = open(EXECUTABLES);
      expect(await programs.find(`${root}/two/other`, "", "/")).toBe(`${root}/two/other`);
    });

    test("a name with a NUL is not found", async () => {
      const { programs, root } = open(EXECUTABLES);
      expect(await programs.find("tool\0", `${root}/one`, root)).toBeUndefined();
    });
  });
}
