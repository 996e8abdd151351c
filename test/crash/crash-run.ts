import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type Everything, expectSound } from "../support/crash-traces.ts";
import { reconcileSchema } from "../support/json-schemas.ts";
import { type CrashScenario, expectNeighbourUnharmed, type Place, type Subject } from "./crash-scenarios.ts";

let subjects = 0;

function aSubject(): Subject {
  subjects += 1;
  return { id: null, branch: `subject/${subjects}`, requestId: `request-${subjects}` };
}

interface Killed {
  /** Names of the boundaries that were crossed, the last one that of the death. */
  readonly crossed: readonly string[];
  readonly wasKilled: boolean;
}

/**
 * Runs a command that is killed at its boundary of that number, if it comes so far; from 1. Its clock is
 * `aheadMs` ahead.
 */
export async function runKilled(
  { ao, repository }: Pick<Place, "ao" | "repository">,
  argv: readonly string[],
  { at, aheadMs = 0 }: { readonly at: number; readonly aheadMs?: number | undefined },
): Promise<Killed> {
  const log = join(ao.root, "boundaries");
  rmSync(log, { force: true });
  const env = { AO_FAULT_AT: String(at), AO_FAULT_LOG: log, AO_FAULT_CLOCK_MS: String(aheadMs) };
  const { exitCode } = await ao.run(argv, { cwd: repository, env });
  const crossed = existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n") : [];
  return { crossed, wasKilled: exitCode === null };
}

/** The boundaries of a command that nothing disturbs. */
export async function boundariesOf(place: Place, scenario: CrashScenario): Promise<readonly string[]> {
  const subject = await scenario.arrange(place, aSubject());
  const { crossed } = await runKilled(place, scenario.argv(subject), { at: 0 });
  await endSubject(place, subject);
  return crossed;
}

/** One `ao reconcile`, which must meet no trouble. */
async function reconcile({ ao, repository }: Place, options: readonly string[] = []) {
  const result = await ao.json(reconcileSchema, ["reconcile", ...options], { cwd: repository });
  expect(result.errors).toEqual([]);
  return result;
}

/** Looks that learn nothing new come one after the other once agents have said all they had to say. */
async function untilQuiet(place: Place): Promise<Everything> {
  for (let tries = 1; ; tries++) {
    const before = expectSound(place.ao, place.repository);
    const { operations, orphans, transitions } = await reconcile(place);
    const after = expectSound(place.ao, place.repository);
    expect({ operations, orphans }).toEqual({ operations: [], orphans: [] });
    if (after.lastSequence === before.lastSequence) {
      expect(transitions).toEqual([]);
      expect(after).toEqual(before);
      return after;
    }
    if (tries > 10) throw new Error("each look learns something new");
  }
}

/** What has to be true after one `ao reconcile`, after a second one, and when the command is repeated. */
async function expectRecovered(place: Place, scenario: CrashScenario, subject: Subject): Promise<void> {
  const { orphans } = await reconcile(place, scenario.recovery);
  expect(orphans.filter(({ action }) => action !== "salvaged")).toEqual([]);
  expectSound(place.ao, place.repository);
  expectNeighbourUnharmed(place);
  scenario.expectIntact?.(place, subject);
  await untilQuiet(place);
  const repeat = () => place.ao.run(scenario.argv(subject), { cwd: place.repository });
  const first = await repeat();
  scenario.check(place, subject, { last: first, all: expectSound(place.ao, place.repository) });
  const again = await repeat();
  scenario.check(place, subject, { last: again, all: expectSound(place.ao, place.repository) });
  scenario.expectIntact?.(place, subject);
  expectNeighbourUnharmed(place);
}

export interface Crash {
  /** The number of the boundary at which the command is killed, from 1. */
  readonly at: number;
  /** Those at which each `ao reconcile` after it is killed. */
  readonly again?: readonly number[];
  /** How far the clock of the command was ahead, in milliseconds. */
  readonly aheadMs?: number;
}

/** Kills the command at one boundary, and `ao reconcile` after it at `again`, then sees all set right. */
export async function crashAndRecover(
  place: Place,
  scenario: CrashScenario,
  { at, again = [], aheadMs }: Crash,
): Promise<readonly string[]> {
  const subject = await scenario.arrange(place, aSubject());
  const deaths: string[] = [];
  const { crossed, wasKilled } = await runKilled(place, scenario.argv(subject), { at, aheadMs });
  if (!wasKilled) throw new Error(`${scenario.name} has no boundary ${at}`);
  deaths.push(crossed.at(-1) ?? "");
  try {
    for (const number of again) {
      const recovery = await runKilled(place, ["reconcile", "--json"], { at: number });
      if (recovery.wasKilled) deaths.push(recovery.crossed.at(-1) ?? "");
    }
    await expectRecovered(place, scenario, subject);
    await endSubject(place, subject);
  } catch (error) {
    throw new Error(`${scenario.name}, killed at ${deaths.join(", then at ")}`, { cause: error });
  }
  return deaths;
}

/** Its agent would only take memory from the next one. */
async function endSubject({ ao, repository }: Place, { branch }: Subject): Promise<void> {
  const { rows } = expectSound(ao, repository);
  const ids = rows.filter(({ metadata }) => metadata.branch === branch).map(({ id }) => id);
  if (ids.length > 0) await ao.run(["kill", ...ids]);
}
