import type { Clock } from "../../ports/clock.ts";
import type { FaultPoint } from "../../ports/fault-point.ts";

declare const __AO_FAULTS__: boolean | undefined;

/** Where tests can interfere with a real process. */
export interface FaultSeams {
  readonly boundary: FaultPoint;
  readonly clock: Clock;
}

/** No faults and `clock` itself, but in a test build: the bundler leaves the rest out of any other. */
export async function faultSeams(
  env: Readonly<Record<string, string | undefined>>,
  clock: Clock,
): Promise<FaultSeams> {
  if (typeof __AO_FAULTS__ !== "undefined" && __AO_FAULTS__) {
    const { crashAt } = await import("./crash-at.ts");
    const { shiftedClock } = await import("./shifted-clock.ts");
    return { boundary: crashAt(env), clock: shiftedClock(clock, env) };
  }
  return { boundary: async () => {}, clock };
}
