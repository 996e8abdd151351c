import { spawn, spawnSync } from "node:child_process";
import { expect, onTestFinished } from "vitest";
import { FAULTY_AO, type Result } from "../support/ao.ts";
import type { Place } from "./crash-scenarios.ts";

/** A command that stands still at a boundary, alive. */
export interface StoppedRun {
  readonly pid: number;
  /** Lets it go on, and waits for its end. */
  wake(): Promise<Result>;
}

/** Runs a command until it stops at the boundary of that name. Its clock is `aheadMs` ahead. */
export async function stoppedAt(
  { ao, repository }: Pick<Place, "ao" | "repository">,
  argv: readonly string[],
  { boundary, aheadMs = 0 }: { readonly boundary: string; readonly aheadMs?: number },
): Promise<StoppedRun> {
  const faults = { AO_FAULT_AT: boundary, AO_FAULT_SIGNAL: "SIGSTOP", AO_FAULT_CLOCK_MS: String(aheadMs) };
  const child = spawn(process.execPath, [FAULTY_AO, ...argv], {
    cwd: repository,
    env: { ...ao.env, ...faults },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].on("data", (chunk: Buffer) => {
      texts[name] += chunk.toString();
    });
  }
  const ended = new Promise<Result>((resolve) => {
    child.on("close", (exitCode) => resolve({ exitCode, ...texts }));
  });
  const pid = child.pid ?? 0;
  await expect.poll(() => stateOf(pid), { timeout: 20_000 }).toBe("T");
  return {
    pid,
    wake() {
      child.kill("SIGCONT");
      return ended;
    },
  };
}

/** `T` when it is stopped (ps(1), PROCESS STATE CODES). */
function stateOf(pid: number): string {
  return spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout.charAt(0);
}
