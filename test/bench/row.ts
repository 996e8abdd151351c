import type { Timing } from "./measure.ts";
import { aPlace, type Place } from "./place.ts";

/** What one row measured: against a floor of the same run, or alone against a bound. */
export interface Measured {
  readonly product: Timing;
  readonly floor: Timing | null;
}

export interface Row {
  readonly name: string;
  readonly floor: string;
  /** The most that is allowed: times the floor, or milliseconds where there is none. */
  readonly atMost: number;
  readonly unit: "times the floor" | "ms" | "MB";
  /** How long it may take with all that it sets up; a minute and a half when not given. */
  readonly limitMs?: number;
  measure(): Promise<Measured>;
}

/** What follows the name of a command that starts an agent here. */
export const SHELL = ["--agent", "shell", "--"];

/** Does the work in a fresh place, which is taken down then. */
export async function inPlace<Result>(work: (place: Place) => Promise<Result>): Promise<Result> {
  const place = aPlace();
  try {
    return await work(place);
  } finally {
    place.remove();
  }
}

/** As the tables call a start of Node. */
export const NODE = "node -e 0";
