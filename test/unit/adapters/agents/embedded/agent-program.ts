import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, onTestFinished } from "vitest";
import { tempDir } from "../../../../support/temp-dir.ts";
import { hookEvents } from "./hook-events.ts";

export const CONVERSATION = "5f0c1f6e-0d5b-4b8e-9c8e-2f4f7a8b9c0d";

/** How long a test waits for what must come, in milliseconds. */
export const PATIENCE = { timeout: 15_000, interval: 10 };

/** Bundles the program into a folder as the build script does, and gives its path. */
export async function bundleProgram(folder: string): Promise<string> {
  const outfile = join(folder, "embedded-agent.mjs");
  const entryPoints = ["src/adapters/agents/embedded/program/main.ts"];
  await build({ entryPoints, outfile, bundle: true, platform: "node", target: "node20", format: "esm" });
  return outfile;
}

/** A working directory and a data directory of one session, outside of any repository. */
export function aPlace() {
  const base = tempDir();
  const [cwd, dataDir] = [join(base, "work"), join(base, "data")];
  mkdirSync(cwd);
  mkdirSync(dataDir);
  return { cwd, dataDir };
}

/** The environment of the session `app-7`, with a home that holds no configuration. */
export function sessionEnv(dataDir: string): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: dataDir,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CEILING_DIRECTORIES: dataDir,
    AO_SESSION_ID: "app-7",
    AO_LAUNCH_ID: "l-1",
    AO_DATA_DIR: dataDir,
  };
}

/** What is only told for the transcript. */
const SAID = ["reply", "tool"];

/**
 * What was reported so far but for what the agent says, nothing before the first event; each as `event` or
 * `event:what`, without the ids.
 */
export function reported(dataDir: string): readonly string[] {
  const events = hookEvents(dataDir).filter(({ event }) => !SAID.includes(event));
  return events.map(({ event, body }) => {
    const { source, prompt, question, outcome, reason } = JSON.parse(body);
    return [event, source ?? prompt ?? question ?? outcome ?? reason].join(":");
  });
}

export interface StartOptions {
  readonly program: string;
  readonly cwd: string;
  readonly dataDir: string;
  readonly args?: readonly string[];
  /** A program with arguments that runs the agent in place of itself. */
  readonly wrapper?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The program as a child with pipes in place of a terminal; ended with the test. */
export function startPiped(options: StartOptions) {
  const { program, cwd, dataDir, args = ["--session-id", CONVERSATION] } = options;
  const [command = "", ...rest] = [...(options.wrapper ?? []), process.execPath, program, ...args];
  const child: ChildProcess = spawn(command, rest, {
    cwd,
    env: { ...sessionEnv(dataDir), ...options.env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  child.stdout?.on("data", (chunk) => {
    output += chunk;
  });
  let errors = "";
  child.stderr?.on("data", (chunk) => {
    errors += chunk;
  });
  child.stdin?.on("error", () => undefined);
  const exited = once(child, "close").then(([code, signal]) => ({ code, signal }));
  return {
    child,
    exited,
    output: () => output,
    errors: () => errors,
    type: (text: string) => child.stdin?.write(text),
    submit: (text: string) => child.stdin?.write(`${text}\r`),
    end: () => child.stdin?.end(),
    /** Waits until all of these were reported, in this order and nothing else. */
    expectReports: (expected: readonly string[]) =>
      expect.poll(() => reported(dataDir), PATIENCE).toEqual(expected),
    expectLast: (report: string) => expect.poll(() => reported(dataDir).at(-1), PATIENCE).toBe(report),
    expectOutput: (text: string) => expect.poll(() => output, PATIENCE).toContain(text),
  };
}
