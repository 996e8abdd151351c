import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { systemProcessTable } from "../../src/adapters/processes/system-process-table.ts";
import type { ProcessIdentity } from "../../src/domain/session.ts";
import { tempDir } from "./temp-dir.ts";

/** A living process that has nothing to do with `ao`. */
export interface Bystander {
  readonly pid: number;
  /** Those that had its pid before it, in this boot and in an earlier one. */
  readonly predecessors: { readonly [Which in Predecessor]: ProcessIdentity };
  /** Fails the test unless it lives and no signal ever reached it. */
  expectUnharmed(): void;
}

/** Who had the pid before. */
export const PREDECESSORS = ["of this boot", "of an earlier boot"] as const;
export type Predecessor = (typeof PREDECESSORS)[number];

/** Notes each signal that it can catch. */
const PROGRAM = `
for name in HUP INT QUIT TERM USR1 USR2; do trap "echo $name >> '$1'" $name; done
echo ready
while :; do sleep 0.05; done
`;

/** Starts a bystander, which ends with the test. */
export async function bystander(): Promise<Bystander> {
  const log = join(tempDir("ao-bystander"), "signals");
  const child = spawn("/bin/sh", ["-c", PROGRAM, "sh", log], { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  await expect.poll(() => said).toBe("ready\n");
  const pid = child.pid ?? 0;
  const identity = await systemProcessTable().identify(pid);
  if (identity === undefined) throw new Error(`no process ${pid}`);
  return {
    pid,
    predecessors: {
      "of this boot": { ...identity, startTime: "1" },
      "of an earlier boot": { ...identity, bootId: randomUUID() },
    },
    expectUnharmed() {
      expect(existsSync(log) ? readFileSync(log, "utf8") : "").toBe("");
      expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    },
  };
}
