import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { OperationOwner } from "../../domain/operation.ts";
import type { ProcessTable } from "../../ports/process-table.ts";

/**
 * Says beside a lock who holds it, for those who wait. Only that: a holder that cannot say so, for want of room,
 * holds it all the same. Whoever reads half of it knows no holder, and no killed process leaves a draft.
 */
export function sayHolder(path: string, owner: OperationOwner): void {
  try {
    writeFileSync(path, JSON.stringify(owner), { mode: 0o600 });
  } catch {
    forgetHolder(path);
  }
}

/** By the holder, before it lets go. Never throws. */
export function forgetHolder(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // A stale name is told from a true one by the process being dead.
  }
}

/** Who holds the lock; `null` when it did not say so, or is one that died and another took over. */
export async function readHolder(
  path: string,
  processes: Pick<ProcessTable, "look">,
): Promise<OperationOwner | null> {
  const owner = parseOwner(readText(path));
  if (owner === undefined) return null;
  const [fact] = await processes.look([owner.process]);
  return fact?.kind === "dead" ? null : owner;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function parseOwner(text: string): OperationOwner | undefined {
  try {
    const { process, command, sinceMs } = JSON.parse(text);
    const { pid, startTime, bootId } = process;
    const isWhole =
      typeof pid === "number" &&
      typeof startTime === "string" &&
      typeof bootId === "string" &&
      typeof command === "string" &&
      typeof sinceMs === "number";
    return isWhole ? { process: { pid, startTime, bootId }, command, sinceMs } : undefined;
  } catch {
    return undefined;
  }
}
