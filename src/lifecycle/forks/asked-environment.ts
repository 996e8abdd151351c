import { AoError } from "../../domain/errors.ts";
import type { SessionDeps } from "../deps.ts";
import { launchDir } from "../launch-agent.ts";
import { crossing } from "../operations/crossing.ts";
import { type ForkProgress, forkLaunch } from "./fork-progress.ts";

/** What a fork was asked for in, for its agent and the project's own steps. It may hold secrets. */
export interface AskedEnvironment {
  /** The environment of the command that asked. */
  readonly callerEnv: SessionDeps["callerEnv"];
  /** The project's own `env` then. */
  readonly projectEnv: Readonly<Record<string, string>>;
}

interface Kept extends AskedEnvironment {
  /** As the record names it, which has nothing else of it. */
  readonly id: string;
}

type Deps = Pick<SessionDeps, "files" | "boundary" | "dataDir">;

/**
 * Keeps it in a file of mode 0600 in the launch folder until the fork has ended, so that whoever carries the fork on
 * starts its agent with what it was asked for in.
 *
 * @throws AoError data_dir_unusable
 */
export async function keepEnvironment(
  deps: Deps,
  progress: ForkProgress,
  { callerEnv, projectEnv }: AskedEnvironment,
): Promise<void> {
  const kept: Kept = { id: progress.frozen.settings.environmentId, callerEnv, projectEnv };
  await crossing(deps, "fork.environment", () =>
    deps.files.write(pathOf(deps, progress), JSON.stringify(kept)),
  );
}

/** @throws AoError fork_failed when it is not there any more. */
export async function askedEnvironment(deps: Deps, progress: ForkProgress): Promise<AskedEnvironment> {
  const kept = await readKept(deps, progress);
  if (kept !== undefined) return kept;
  throw new AoError("fork_failed", LOST, { details: { path: pathOf(deps, progress) } });
}

/** Why the agent of a fork cannot be started any more; `null` when it can. */
export async function environmentFlaw(deps: Deps, progress: ForkProgress): Promise<string | null> {
  return (await readKept(deps, progress)) === undefined ? LOST : null;
}

/** Once the fork is committed. Idempotent. */
export async function dropEnvironment(deps: Deps, progress: ForkProgress): Promise<void> {
  await crossing(deps, "fork.environment.drop", () => deps.files.removeTree(pathOf(deps, progress)));
}

const LOST = "the environment that it was asked for in is not kept any more";

async function readKept(deps: Deps, progress: ForkProgress): Promise<AskedEnvironment | undefined> {
  const text = await deps.files.read(pathOf(deps, progress));
  const kept = text === undefined ? undefined : parseKept(text);
  return kept?.id === progress.frozen.settings.environmentId ? kept : undefined;
}

function parseKept(text: string): Kept | undefined {
  try {
    return JSON.parse(text) as Kept;
  } catch {
    return undefined;
  }
}

function pathOf({ dataDir }: Pick<SessionDeps, "dataDir">, progress: ForkProgress): string {
  const { sessionId, launchId } = forkLaunch(progress);
  return `${launchDir(dataDir, sessionId, launchId)}/asked-environment`;
}
