import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeConfig } from "../../../../src/adapters/tmux/config.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { tmuxServer } from "../../../support/tmux-server.ts";

describe("writeConfig", () => {
  test("it puts one private file beside the socket, whatever the umask", async () => {
    const folder = tempDir();
    const before = process.umask(0);
    const path = await writeConfig(join(folder, "tmux")).finally(() => process.umask(before));
    expect(readdirSync(folder)).toEqual(["tmux.conf"]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("what somebody changed in it does not stay", async () => {
    const socketPath = join(tempDir(), "tmux");
    const path = await writeConfig(socketPath);
    const content = readFileSync(path, "utf8");
    writeFileSync(path, "set -g destroy-unattached on\n");
    await writeConfig(socketPath);
    expect(readFileSync(path, "utf8")).toBe(content);
  });

  test("twenty at once leave the one file", async () => {
    const socketPath = join(tempDir(), "tmux");
    await Promise.all(Array.from({ length: 20 }, () => writeConfig(socketPath)));
    expect(readdirSync(dirname(socketPath))).toEqual(["tmux.conf"]);
  });

  test("a folder that cannot be written is one clear error", async () => {
    const file = join(tempDir(), "file");
    writeFileSync(file, "");
    await expect(writeConfig(join(file, "tmux"))).rejects.toMatchObject({ code: "runtime_unavailable" });
  });
});

test("tmux takes every line of it, keeps dead panes, and ends with its last session", async () => {
  const server = tmuxServer();
  const path = await writeConfig(server.socketPath);
  server.tmux("-f", path, "new-session", "-d", "-s", "a", "exec sleep 60");
  expect(server.tmux("source-file", path)).toBe("");
  expect(server.tmux("display-message", "-p", "-t", "a:", "#{pane_in_mode}")).toBe("0");
  const shown = (option: string) => server.tmux("show-options", "-Av", "-t", "a:", option);
  expect(["exit-empty", "remain-on-exit", "update-environment", "history-limit"].map(shown)).toEqual([
    "on",
    "on",
    "",
    "50000",
  ]);
});
