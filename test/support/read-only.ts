import { spawnSync } from "node:child_process";
import { onTestFinished } from "vitest";

/** How a program is started: by its name and arguments, or by another one that starts it. */
export type Start = (argv: readonly string[]) => readonly string[];

/** What takes from root the right to pass over modes, and nothing else (setpriv(1), of util-linux). */
const BOUND = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"];

/** Runs a command that must succeed. */
function must(program: string, ...args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${[program, ...args].join(" ")}: ${error?.message ?? stderr}`);
}

/** A folder below which nothing may be written. */
export interface ReadOnly {
  /** From now on something may be. */
  allow(): void;
  /** Starts a program that modes bind, who ever runs it. */
  readonly start: Start;
}

/** Takes the right to write from a folder and all in it. */
export function makeReadOnly(folder: string): ReadOnly {
  const allow = () => must("chmod", "-R", "u+w", folder);
  onTestFinished(allow);
  must("chmod", "-R", "a-w", folder);
  const isRoot = process.geteuid?.() === 0;
  return { allow, start: (program) => (isRoot ? [...BOUND, ...program] : program) };
}
