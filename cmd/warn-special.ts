import type { Ao } from "../src/compose.ts";
import { printable } from "../src/domain/printable.ts";
import { heldByName } from "../src/domain/special-files.ts";
import { findSalvage } from "../src/lifecycle/salvage/find-salvage.ts";
import type { Invocation } from "./invocation.ts";

interface Salvaged {
  readonly id: string;
  readonly salvageRef: string | null;
}

/** Says of each salvage that was made what in it is a name alone. One that is gone again, or cannot be read, is passed over. */
export async function warnSpecial(ao: Ao, invocation: Invocation, made: readonly Salvaged[]): Promise<void> {
  for (const { id, salvageRef } of made) {
    const said = salvageRef === null ? null : await specialIn(ao, salvageRef).catch(() => null);
    if (said !== null) invocation.warn(printable(`${id}: ${said}`));
  }
}

async function specialIn({ deps }: Ao, salvageRef: string): Promise<string | null> {
  const { repositoryPath, ref } = await findSalvage(deps, salvageRef);
  return heldByName((await deps.snapshots.show(repositoryPath, ref)).special);
}
