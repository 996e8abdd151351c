import type { SessionRecord } from "../../domain/session.ts";
import type { SessionDeps } from "../deps.ts";
import { launchDir } from "../launch-agent.ts";

/** Marks a command of `until`, and all that it starts. */
const CHECK_VARIABLE = "AO_GOAL_CHECK_ID";

type Deps = Pick<SessionDeps, "files" | "processes" | "ids" | "dataDir">;

/**
 * Runs a command of a session with a mark in its environment that is on record meanwhile. What a dead process had
 * begun and not ended is ended by SIGKILL first, where it can be seen; what a command itself left behind is not.
 * One at a time for each session.
 */
export async function withMark<Result>(
  deps: Deps,
  record: SessionRecord,
  run: (env: Readonly<Record<string, string>>) => Promise<Result>,
): Promise<Result> {
  const path = `${launchDir(deps.dataDir, record.id, record.metadata.launchId)}/goal-check`;
  await endLeft(deps, await deps.files.read(path));
  const value = deps.ids.uuid();
  await deps.files.write(path, value);
  const result = await run({ [CHECK_VARIABLE]: value });
  await deps.files.removeTree(path);
  return result;
}

async function endLeft({ processes }: Deps, value: string | undefined): Promise<void> {
  if (value === undefined) return;
  for (const left of await processes.family(null, { name: CHECK_VARIABLE, value })) {
    await processes.signal(left, "SIGKILL");
  }
}
