import { expect } from "vitest";
import { isTerminal } from "../../src/domain/lifecycle.ts";
import { aoSandbox, FAULTY_AO } from "../support/ao.ts";
import { expectSound } from "../support/crash-traces.ts";
import { reconcileSchema, spawnSchema } from "../support/json-schemas.ts";
import { runKilled } from "./crash-run.ts";
import { SHELL } from "./crash-scenarios.ts";

const SPAWN = ["spawn", "--branch", "first", "--request-id", "first", "--json", ...SHELL];

/** Kills the first spawn of a data directory, in a new repository, at one boundary; false when it has no such. */
async function crashFirst(at: number): Promise<boolean> {
  const ao = aoSandbox(FAULTY_AO);
  const place = { ao, repository: ao.repository() };
  const { wasKilled, crossed } = await runKilled(place, SPAWN, { at });
  const where = `killed at ${crossed.at(-1)}`;
  const { errors, orphans } = await ao.json(reconcileSchema, ["reconcile"]);
  expect({ errors, orphans }, where).toEqual({ errors: [], orphans: [] });
  const recovered = expectSound(ao, place.repository);
  expect(recovered.projects, where).toEqual(recovered.rows.length === 0 ? [] : ["shop"]);
  for (let times = 0; times < 2; times++) {
    const { id } = await ao.json(spawnSchema, SPAWN, { cwd: place.repository });
    const { rows, projects } = expectSound(ao, place.repository);
    expect(projects, where).toEqual(["shop"]);
    expect(
      rows.filter(({ lifecycle }) => !isTerminal(lifecycle)).map((row) => row.id),
      where,
    ).toEqual([id]);
  }
  return wasKilled;
}

/** Kills the first spawn at every `step`-th boundary from the `first`; how many those were. */
export async function sweepFirst({
  first,
  step,
}: {
  readonly first: number;
  readonly step: number;
}): Promise<number> {
  for (let count = 0; ; count++) if (!(await crashFirst(first + count * step))) return count;
}
