import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Ao, openAo } from "../../src/compose.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import type { SessionRecord } from "../../src/domain/session.ts";
import {
  aKilledSession,
  aProject,
  aSession,
  aWorkingLifecycle,
  launchId,
  sessionId,
} from "../support/builders.ts";
import type { Place } from "./place.ts";

const PROMPT = "Fix the login redirect, then run the tests and commit what you did.\n".repeat(20);

/** A row as a person's spawn would leave it, with a prompt of 1.4 kB. */
function aRow(place: Place, id: SessionId, isLive: boolean): SessionRecord {
  const metadata = {
    ...{ repositoryPath: join(place.root, "repo1"), prompt: PROMPT, title: `Task ${id}` },
    workspacePath: place.root,
    launchId: launchId(`launch-${id}`),
  };
  const nowMs = Date.now();
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  if (isLive) return aSession({ id, ...times, metadata, lifecycle: aWorkingLifecycle() });
  return aKilledSession({ id, ...times, terminatedAtMs: nowMs, metadata: { ...metadata, runtime: null } });
}

async function startOne(place: Place, { deps }: Ao, row: SessionRecord): Promise<SessionRecord> {
  const { launchId: launch } = row.metadata;
  const launchDir = join(place.dataDir, "launch", row.id, launch);
  mkdirSync(launchDir, { recursive: true, mode: 0o700 });
  const { handle, process } = await deps.runtime.create({
    ...{ sessionId: row.id, launchId: launch, workspacePath: place.root, launchDir },
    ...{ argv: ["/usr/bin/sleep", "3600"], settleMs: 0 },
    env: { PATH: place.env["PATH"] ?? "", AO_SESSION_ID: row.id, AO_LAUNCH_ID: launch },
  });
  return { ...row, metadata: { ...row.metadata, runtime: handle, process } };
}

/**
 * Fills the place's store with sessions of the `shell` agent; those that live have a tmux session with `sleep`
 * in it, as a spawn makes it.
 *
 * @returns the socket of the server.
 */
export async function crowd(
  place: Place,
  { total, live }: { readonly total: number; readonly live: number },
): Promise<string> {
  const ao = await openAo({ env: place.env, cwd: place.root, access: "create" });
  const ids = Array.from({ length: total }, (_, index) => sessionId(`app-${index + 1}`));
  try {
    const rows = ids.slice(live).map((id) => aRow(place, id, false));
    for (const id of ids.slice(0, live)) rows.push(await startOne(place, ao, aRow(place, id, true)));
    ao.deps.store.transaction(() => {
      ao.deps.store.insertProject(aProject({ repositoryPath: join(place.root, "repo1") }));
      for (const row of rows) ao.deps.store.insert(row);
    });
    return ao.socketPath;
  } finally {
    ao.close();
  }
}
