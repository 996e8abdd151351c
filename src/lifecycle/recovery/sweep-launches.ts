import { dataLayout } from "../../domain/data-layout.ts";
import { codeOf, errorMessage } from "../../domain/errors.ts";
import { parseLaunchId, parseSessionId } from "../../domain/ids.ts";
import type { RuntimeMark } from "../../ports/runtime.ts";
import type { SessionDeps } from "../deps.ts";
import { crossing } from "../operations/crossing.ts";
import { removeLaunch } from "../teardown.ts";
import { isLaunchOver, readOwners } from "./owners.ts";
import type { RecoveryError } from "./recovery.ts";

/**
 * Removes the private files of launches that are over: of agents that ended by themselves, and what a process that
 * died left behind a launch. Those of a launch that an unfinished operation may still need stay, as do those of one
 * whose agent is seen running. What could not be removed is told, and stops nothing else. Idempotent.
 *
 * @throws AoError runtime_unavailable when it could not look; nothing was removed then.
 */
export async function sweepLaunches(deps: SessionDeps): Promise<readonly RecoveryError[]> {
  const over = await launchesOver(deps);
  if (over.length === 0) return [];
  const running = (await deps.runtime.marked()).filter(({ process }) => process !== null);
  const kept = new Set(running.map(({ launchId }) => launchId));
  const errors: RecoveryError[] = [];
  for (const launch of over.filter(({ launchId }) => !kept.has(launchId))) {
    try {
      await crossing(deps, "reconcile.launch.sweep", () => removeLaunch(deps, launch));
    } catch (error) {
      errors.push({
        subject: `launch of ${launch.sessionId}`,
        code: codeOf(error),
        message: errorMessage(error),
      });
    }
  }
  return errors;
}

/** Each launch has an id of its own, and is over for good. */
async function launchesOver(deps: SessionDeps): Promise<readonly RuntimeMark[]> {
  // Launches before those who own them: one that another process just makes is owned by then.
  const all = await launches(deps);
  const owners = readOwners(deps);
  return all.filter((launch) => isLaunchOver(owners, launch));
}

async function launches({ files, dataDir }: SessionDeps): Promise<readonly RuntimeMark[]> {
  const layout = dataLayout(dataDir);
  const sessions = (await files.names(layout.launches)).flatMap((name) => parseSessionId(name) ?? []);
  const found = sessions.map(async (sessionId) => {
    const names = await files.names(layout.launchDir(sessionId));
    const ids = names.flatMap((name) => parseLaunchId(name) ?? []);
    return ids.map((launchId): RuntimeMark => ({ sessionId, launchId }));
  });
  return (await Promise.all(found)).flat();
}
