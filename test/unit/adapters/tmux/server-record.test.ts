import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serverRecord } from "../../../../src/adapters/tmux/server-record.ts";
import { aProcess } from "../../../support/builders.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const SERVER = aProcess({ pid: 4242 });

test("the server that was written is read, and nothing but its record is left", async () => {
  const stateDir = join(tempDir(), "runtime");
  const record = serverRecord(stateDir);
  expect(await record.read()).toBeUndefined();
  for (let times = 0; times < 2; times += 1) await record.write(SERVER);
  expect(await record.read()).toEqual(SERVER);
  expect(readdirSync(stateDir)).toEqual(["tmux-server.json"]);
});

test("a write that fails leaves no draft", async () => {
  const stateDir = tempDir();
  mkdirSync(join(stateDir, "tmux-server.json"));
  await expect(serverRecord(stateDir).write(SERVER)).rejects.toMatchObject({ code: "data_dir_unusable" });
  expect(readdirSync(stateDir)).toEqual(["tmux-server.json"]);
});
