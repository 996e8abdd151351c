import { appendFileSync } from "node:fs";
import type { FaultPoint } from "../../ports/fault-point.ts";

/**
 * A fault point that ends its own process by SIGKILL at one boundary, for test builds alone.
 * `AO_FAULT_AT` is the number of that boundary, from 1; never when absent. Each boundary that is crossed, that
 * one included, is a line of the file `AO_FAULT_LOG`, when there is one.
 */
export function crashAt(env: Readonly<Record<string, string | undefined>>): FaultPoint {
  const at = Number(env["AO_FAULT_AT"]);
  const log = env["AO_FAULT_LOG"];
  let crossed = 0;
  return async (boundary) => {
    crossed += 1;
    if (log !== undefined) appendFileSync(log, `${boundary}\n`, { mode: 0o600 });
    if (crossed === at) await die();
  };
}

function die(): Promise<never> {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => {});
}
