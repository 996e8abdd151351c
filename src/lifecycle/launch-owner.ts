import { AoError } from "../domain/errors.ts";
import type { RuntimeObservation } from "../domain/facts.ts";
import type { SessionId } from "../domain/ids.ts";
import { isTerminal } from "../domain/lifecycle.ts";
import type { SessionRecord } from "../domain/session.ts";
import type { SessionDeps } from "./deps.ts";
import { runtimeTarget } from "./session-refs.ts";

/**
 * The live session among `records` whose row names the launch that this one's row names, too. A launch has one
 * session: where two name it, one of the rows is old or was changed by hand.
 */
export function rivalOf(records: readonly SessionRecord[], record: SessionRecord): SessionId | undefined {
  const { launchId } = record.metadata;
  return records.find(
    ({ id, lifecycle, metadata }) =>
      id !== record.id && metadata.launchId === launchId && !isTerminal(lifecycle),
  )?.id;
}

/** Whether a runtime was seen with the marks of this very session: then the launch is its own. Pure. */
export function isOwnLaunch(seen: RuntimeObservation | undefined): boolean {
  return seen?.runtime.kind === "alive" || seen?.runtime.kind === "exited";
}

/**
 * To be called before the agent of a recorded launch is ended.
 *
 * @throws AoError store_corrupt when the row of another live session names the same launch, and nothing shows
 *   that it is this one's.
 */
export async function refuseRival(
  { store, runtime }: Pick<SessionDeps, "store" | "runtime">,
  record: SessionRecord,
): Promise<void> {
  const rival = rivalOf(store.rows().sessions, record);
  const target = runtimeTarget(record);
  if (rival === undefined || target === undefined) return;
  if (isOwnLaunch((await runtime.look([target])).get(record.id))) return;
  throw new AoError("store_corrupt", describeRival(record.id, rival), { hint: `ao show ${rival}` });
}

/** What is wrong, as one clause. Pure. */
export function describeRival(id: SessionId, rival: SessionId): string {
  return `the records of ${id} and ${rival} name the same launch, and ${rival} is live`;
}
