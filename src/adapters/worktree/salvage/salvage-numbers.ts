import type { SessionId } from "../../../domain/ids.ts";
import { droppedSalvageRef, nextSalvageNumber, parseDroppedSalvageRef } from "../../../domain/salvage.ts";
import { makeRef } from "./ao-commit.ts";
import type { Plumbing } from "./plumbing.ts";
import { salvagesOf } from "./salvage-refs.ts";

/** The number for a session's next salvage: after all that it has, and after those that were dropped. */
export async function nextNumber(plumbing: Plumbing, sessionId: SessionId): Promise<number> {
  const [kept, dropped] = await Promise.all([
    salvagesOf(plumbing, sessionId),
    droppedNumbers(plumbing, sessionId),
  ]);
  return nextSalvageNumber([...kept.map(({ number }) => number), ...dropped]);
}

/**
 * Takes the number of a salvage that is to be dropped out of use, before it goes: whoever wrote it down finds no
 * other work under it later. A number below another is out of use as it is.
 *
 * @throws AoError git_failed
 */
export async function retireNumber(plumbing: Plumbing, sessionId: SessionId, number: number): Promise<void> {
  if ((await nextNumber(plumbing, sessionId)) > number + 1) return;
  const nothing = await plumbing.tell("remember a number", ["hash-object", "-w", "--stdin"]);
  await makeRef(plumbing, droppedSalvageRef(sessionId, number), nothing.trim());
}

async function droppedNumbers(plumbing: Plumbing, sessionId: SessionId): Promise<readonly number[]> {
  const args = ["for-each-ref", "--format=%(refname)", "--", droppedSalvageRef(sessionId)];
  const names = await plumbing.tell("list what was dropped", args);
  return names.split("\n").flatMap((name) => parseDroppedSalvageRef(name) ?? []);
}
