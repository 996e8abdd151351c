import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { liveSockets } from "../../../../src/adapters/worktree/live-sockets.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const ROOT = "/data/worktrees/app/app-1";

test.each([
  [`${ROOT}/run/a.sock`, true],
  ["a.sock", true],
  ["./run/a.sock", true],
  ["../run/a.sock", true],
  ["/elsewhere/run/a.sock", false],
  ["b.sock", false],
  ["@a.sock", false],
])("a socket bound as %s is one in the worktree: %s", async (name, isLive) => {
  const table = join(tempDir("ao-proc"), "unix");
  const line = `000000004aa95984: 00000002 00000000 00010000 0001 01 44375679 ${name}`;
  writeFileSync(table, `Num       RefCount Protocol Flags    Type St Inode Path\n${line}\n`);
  expect(await liveSockets([ROOT], ["run/a.sock"], table)).toEqual(isLive ? ["run/a.sock"] : []);
});

test("where no table is, no socket is known to be live", async () => {
  expect(await liveSockets([ROOT], ["run/a.sock"], "/nonexistent/unix")).toEqual([]);
});
