import { describe, expect, test } from "vitest";
import { frameText } from "../../cmd/watch-list.ts";
import { AO, aoSandbox } from "../support/ao.ts";
import { aTerminal } from "../support/terminal.ts";

const SLEEP = ["--agent", "shell", "--", "sleep", "60"];

describe("ao list --watch", () => {
  test("draws sessions as they come and end, in one place, until it is interrupted", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const terminal = aTerminal(ao);
    terminal.type(`'${process.execPath}' '${AO}' list --watch; echo "ended: $?"`);
    await expect.poll(terminal.screen, { timeout: 10_000 }).toMatch(/^no sessions yet/);
    const id = await ao.spawn(cwd, SLEEP);
    await expect.poll(terminal.screen, { timeout: 10_000 }).toMatch(new RegExp(`^ID .*\\n${id} `));
    await ao.run(["kill", id]);
    await expect.poll(terminal.screen, { timeout: 10_000 }).toMatch(/^1 terminated not shown/);
    terminal.press("C-c");
    await expect.poll(terminal.screen, { timeout: 10_000 }).toContain("ended: 130");
  });

  test("needs a terminal, and is no JSON", async () => {
    const ao = aoSandbox();
    expect(await ao.error(["list", "--watch"])).toMatchObject({ exitCode: 2, code: "usage" });
    expect(await ao.run(["list", "--watch"])).toMatchObject({
      exitCode: 2,
      stdout: "",
      stderr: expect.stringContaining("ao events --follow"),
    });
  });
});

describe("a frame", () => {
  test.each([
    [3, 24, 3, false],
    [22, 24, 22, false],
    [23, 24, 23, true],
    [9, 2, 2, true],
  ])("of %d lines on a screen of %d rows has %d lines", (count, rows, shown, isCut) => {
    const lines = Array.from({ length: count }, (_, index) => `line ${index}`);
    const text = frameText(lines, rows);
    expect(text.split("\n")).toHaveLength(shown + 1);
    expect(text.includes("more lines")).toBe(isCut);
    expect(text.startsWith("\u001b[Hline 0\u001b[K\n")).toBe(true);
    expect(text.endsWith("\u001b[J")).toBe(true);
  });
});
