import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { RuntimeSpec } from "../../src/ports/runtime.ts";
import { launchId, sessionId } from "./builders.ts";
import { tempDir } from "./temp-dir.ts";

/** The socket of a private tmux server, which a test talks to behind the back of `ao`. */
export interface TmuxServer {
  readonly socketPath: string;
  /** What tmux prints, without the last newline; throws when it fails. Starts no server by itself. */
  tmux(...args: readonly string[]): string;
  /** Whether it has this session; false also when there is no server. */
  hasSession(name: string): boolean;
  /** Names of buffers that are left. */
  buffers(): readonly string[];
}

/** A socket in a folder of its own; whatever server listens on it is ended with the test. */
export function tmuxServer(): TmuxServer {
  const folder = join(tempDir("ao-tmux"), "socket");
  mkdirSync(folder, { mode: 0o700 });
  const socketPath = join(folder, "tmux");
  const call = (args: readonly string[]) =>
    spawnSync("tmux", ["-u", "-S", socketPath, ...args], { encoding: "utf8", env: cleanEnv() });
  onTestFinished(() => void call(["kill-server"]));
  return {
    socketPath,
    tmux(...args) {
      const { status, stdout, stderr } = call(args);
      if (status !== 0) throw new Error(`tmux ${args.join(" ")}: ${stderr}`);
      return stdout.replace(/\n$/, "");
    },
    hasSession: (name) => call(["has-session", "-t", `=${name}`]).status === 0,
    buffers: () => call(["list-buffers", "-F", "#{buffer_name}"]).stdout.split("\n").filter(Boolean),
  };
}

function cleanEnv(): NodeJS.ProcessEnv {
  const { TMUX: _tmux, TMUX_PANE: _pane, ...env } = process.env;
  return { ...env, LC_ALL: "C.UTF-8" };
}

let launches = 0;

/** A launch of its own in a workspace of its own that does nothing for a minute. */
export function aRuntimeSpec(patch: Partial<RuntimeSpec> = {}): RuntimeSpec {
  launches += 1;
  const folder = tempDir("ao-launch");
  const launchDir = join(folder, "launch");
  const workspacePath = join(folder, "workspace");
  mkdirSync(launchDir, { mode: 0o700 });
  mkdirSync(workspacePath);
  return {
    sessionId: sessionId(`app-${launches}`),
    launchId: launchId(`launch-${process.pid}-${launches}`),
    workspacePath,
    launchDir,
    argv: ["/bin/sleep", "60"],
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: folder },
    settleMs: 0,
    ...patch,
  };
}

/**
 * A program called `tmux` that runs a shell script instead; `$real` in it is the true one. Returns its path.
 */
export function fakeTmux(script: string): string {
  const path = join(tempDir("ao-fake-tmux"), "tmux");
  const real = spawnSync("/bin/sh", ["-c", "command -v tmux"], { encoding: "utf8" }).stdout.trim();
  writeFileSync(path, `#!/bin/sh\nreal='${real}'\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Pids of all other processes whose command line holds the text. */
export function pidsWith(text: string): readonly number[] {
  const { stdout } = spawnSync("ps", ["-axww", "-o", "pid=,command="], { encoding: "utf8" });
  return stdout
    .split("\n")
    .filter((line) => line.includes(text) && !line.endsWith("<defunct>"))
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => pid !== process.pid);
}

/** Whether a process with this pid runs; one that has exited and was not waited for does not. */
export function isRunning(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.startsWith("Z");
}
