import { type ChildProcess, spawn } from "node:child_process";
import type { GoalCheckResult, GoalCheckRun, GoalCheckRunner } from "../../ports/goal-check.ts";

/** How long who still holds the output is waited for once the command itself has ended. */
const QUIET_MS = 200;

/**
 * Runs commands by `sh -c --`, the command one argument as its user wrote it (POSIX sh(1p)). Each leads a process group
 * of its own, which is ended by SIGKILL when the time is up, and when this process exits before it. It reads nothing.
 */
export function systemGoalChecks(): GoalCheckRunner {
  return { run };
}

async function run(check: GoalCheckRun): Promise<GoalCheckResult> {
  try {
    const { command, cwd, env } = check;
    const child = spawn("/bin/sh", ["-c", "--", command], {
      ...{ cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] },
    });
    return await ended(child, check);
  } catch (error) {
    return { kind: "not_run", why: String(error) };
  }
}

function ended(child: ChildProcess, { timeoutMs, maxChars }: GoalCheckRun): Promise<GoalCheckResult> {
  const output = tail(child, maxChars);
  let isLate = false;
  const end = () => endGroup(child.pid);
  const timer = setTimeout(() => {
    isLate = true;
    end();
  }, timeoutMs);
  process.once("exit", end);
  return new Promise((resolve) => {
    const done = (result: GoalCheckResult) => {
      clearTimeout(timer);
      process.removeListener("exit", end);
      output.drop();
      resolve(result);
    };
    child.once("error", (error) => done({ kind: "not_run", why: error.message }));
    child.once("exit", (exitCode, signal) => {
      const tell = () => done(resultOf({ exitCode, signal, isLate }, output));
      // What it left in the background may hold its output open for ever.
      const late = setTimeout(tell, QUIET_MS);
      child.once("close", () => {
        clearTimeout(late);
        tell();
      });
    });
  });
}

interface Exit {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly isLate: boolean;
}

function resultOf({ exitCode, signal, isLate }: Exit, output: Tail): GoalCheckResult {
  const told = { output: output.text(), isCut: output.isCut() };
  if (!isLate && exitCode !== null) return { kind: "ended", exitCode, ...told };
  const why = isLate ? "it was ended because its time was up" : `it was ended by ${signal ?? "a signal"}`;
  return { kind: "broken_off", why, ...told };
}

interface Tail {
  text(): string;
  isCut(): boolean;
  drop(): void;
}

/** The end of what a child writes; a character that the cut splits is left out. */
function tail(child: ChildProcess, maxChars: number): Tail {
  let kept = "";
  let isCut = false;
  const streams = [child.stdout, child.stderr].flatMap((stream) => stream ?? []);
  for (const stream of streams) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      const all = kept + text;
      isCut ||= all.length > maxChars;
      kept = all.slice(-maxChars).replace(/^[\udc00-\udfff]/, "");
    });
  }
  const drop = () => {
    for (const stream of streams) stream.destroy();
  };
  return { text: () => kept, isCut: () => isCut, drop };
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // All of it has ended already.
  }
}
