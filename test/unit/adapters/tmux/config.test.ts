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

test.each([
  ["a status", "exit 3", "ao: the agent has ended with status 3; Ctrl-b d leaves"],
  ["a status of 0", "exit 0", "ao: the agent has ended with status 0; Ctrl-b d leaves"],
  ["a signal", "kill -9 $$", "ao: the agent has ended by signal 9; Ctrl-b d leaves"],
])("an agent that ended by %s leaves a line on its screen that says so", async (_how, script, line) => {
  const server = tmuxServer();
  const path = await writeConfig(server.socketPath);
  server.tmux("-f", path, "new-session", "-d", "-s", "other", "exec sleep 60");
  server.tmux("new-session", "-d", "-s", "a", `echo bye; sleep 0.2; ${script}`);
  server.tmux("set-option", "-p", "-t", "a:", "@ao_pane", "agent");
  const screen = () => {
    // At the next death tmux learns of one that it missed.
    server.tmux("run-shell", ":");
    return server.tmux("capture-pane", "-p", "-S", "-50", "-t", "a:").trim().split("\n").filter(Boolean);
  };
  await expect.poll(screen, { timeout: 10_000 }).toEqual(["bye", line]);
});

test("a program that a person ran beside the agent is not called the agent when it ends", async () => {
  const server = tmuxServer();
  const path = await writeConfig(server.socketPath);
  server.tmux("-f", path, "new-session", "-d", "-s", "other", "exec sleep 60");
  server.tmux("new-session", "-d", "-s", "a", "sleep 0.2; exit 1");
  const screen = () => {
    server.tmux("run-shell", ":");
    return server.tmux("capture-pane", "-p", "-t", "a:").trim();
  };
  await expect
    .poll(screen, { timeout: 10_000 })
    .toBe("ao: this program has ended with status 1; Ctrl-b d leaves");
});
