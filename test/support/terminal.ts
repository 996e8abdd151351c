import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Ao } from "./ao.ts";

/** A terminal to run things in: a tmux server of the user's own, apart from that of `ao`. */
export function aTerminal(ao: Ao) {
  const socket = join(ao.root, "outer");
  const env = { ...ao.env, TERM: "xterm-256color" };
  const tmux = (...args: readonly string[]) =>
    spawnSync("tmux", ["-u", "-f", "/dev/null", "-S", socket, ...args], {
      env,
      encoding: "utf8",
    }).stdout.trim();
  tmux("new-session", "-d", "-s", "user", "-x", "120", "-y", "30", "sh");
  onTestFinished(() => void tmux("kill-server"));
  return {
    type(line: string): void {
      tmux("send-keys", "-t", "user", "-l", line);
      tmux("send-keys", "-t", "user", "Enter");
    },
    press(key: string): void {
      tmux("send-keys", "-t", "user", key);
    },
    /** From now on every byte that is written to it is in the file of this path. */
    record(): string {
      const path = join(ao.root, "terminal-record");
      writeFileSync(path, "");
      tmux("pipe-pane", "-t", "user", `cat >>'${path}'`);
      return path;
    },
    screen: () => tmux("capture-pane", "-p", "-t", "user"),
  };
}
