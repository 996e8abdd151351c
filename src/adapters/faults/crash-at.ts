import { appendFileSync } from "node:fs";
import type { FaultPoint } from "../../ports/fault-point.ts";

/**
 * A fault point that ends its own process by SIGKILL at one boundary, or stops it there until somebody continues
 * it (`AO_FAULT_SIGNAL` `SIGSTOP`), for test builds alone.
 * `AO_FAULT_AT` is the number of that boundary, from 1, or its name; never when absent. Each boundary that is
 * crossed, that one included, is a line of the file `AO_FAULT_LOG`, when there is one.
 */
export function crashAt(env: Readonly<Record<string, string | undefined>>): FaultPoint {
  const { AO_FAULT_AT: at, AO_FAULT_LOG: log } = env;
  const interrupt = env["AO_FAULT_SIGNAL"] === "SIGSTOP" ? stop : die;
  let crossed = 0;
  return async (boundary) => {
    crossed += 1;
    if (log !== undefined) appendFileSync(log, `${boundary}\n`, { mode: 0o600 });
    if (at === boundary || at === String(crossed)) await interrupt();
  };
}

function die(): Promise<never> {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => {});
}

async function stop(): Promise<void> {
  process.kill(process.pid, "SIGSTOP");
}
