import { existsSync } from "node:fs";
import { lstat, readdir, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAoError } from "../../domain/errors.ts";
import type { Locks } from "../../ports/locks.ts";
import { writeConfig } from "./config.ts";
import { askForCertain, hasEnded } from "./find-marked.ts";
import { ENDING_MS, type RecordedServerDeps } from "./reopen.ts";
import { prepareSocketFolder } from "./socket-path.ts";

export interface ServerStartDeps extends RecordedServerDeps {
  readonly uid: number;
  readonly locks: Pick<Locks, "withLock">;
}

/** As long as a start takes; who waits longer finds a server to join. */
const WAIT_MS = 100;
const POLL_MS = 5;
/** What `ao` and tmux leave beside each other: a socket, the configuration and drafts of that. */
const OURS = /^tmux(\.conf.*)?$/;

/**
 * Starts a server, while nobody else starts one there or takes its folder away. `start` gets the path of the
 * configuration; `undefined` when another process held it for too long.
 *
 * @throws AoError runtime_unavailable when the folder or the configuration cannot be made.
 * @throws what `start` throws.
 */
export async function startingServer<Result>(
  deps: ServerStartDeps,
  start: (configPath: string) => Promise<Result>,
): Promise<Result | undefined> {
  return alone(deps, async () => {
    await prepareSocketFolder(deps.socketPath, deps.uid);
    return start(await writeConfig(deps.socketPath));
  });
}

/**
 * Takes the socket's folder away when its server has ended, for sure, and nothing is in it that is not ours. It
 * lies outside of the data directory, and nobody else would. Best effort; never rejects.
 */
export async function removeIdleFolder(deps: ServerStartDeps): Promise<void> {
  if (!(await isOver(deps).catch(() => false))) return;
  await alone(deps, async () => {
    const { kind } = await askForCertain(deps);
    if (kind === "no_server") await removeOurs(dirname(deps.socketPath), deps.uid);
  }).catch(() => undefined);
}

async function alone<Result>(
  { locks, socketPath }: ServerStartDeps,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  let isHeld = false;
  const mine = () => {
    isHeld = true;
    return work();
  };
  try {
    return await locks.withLock(`tmux server on ${socketPath}`, mine, { waitMs: WAIT_MS });
  } catch (error) {
    if (!isHeld && isAoError(error, "operation_in_progress")) return undefined;
    throw error;
  }
}

/** A server ends a moment after its last session, and after its socket. */
async function isOver(deps: ServerStartDeps): Promise<boolean> {
  const recorded = await deps.servers.read();
  if (recorded === undefined) return true;
  const untilMs = performance.now() + ENDING_MS;
  for (;;) {
    if (await hasEnded(deps, recorded)) return true;
    if (existsSync(deps.socketPath) || performance.now() >= untilMs) return false;
    await sleep(POLL_MS);
  }
}

async function removeOurs(folder: string, uid: number): Promise<void> {
  const stats = await lstat(folder);
  const names = stats.isDirectory() && stats.uid === uid ? await readdir(folder) : [""];
  if (!names.every((name) => OURS.test(name))) return;
  for (const name of names) await rm(join(folder, name));
  await rmdir(folder);
}
