import { AoError, errorMessage, isAoError } from "../../domain/errors.ts";
import type { RuntimeSpec } from "../../ports/runtime.ts";
import { tearDown } from "./destroy.ts";
import { askForCertain } from "./find-marked.ts";
import { type LaunchFiles, removeLaunchFiles } from "./launch-files.ts";
import { describeLeft, type Leftover } from "./leftover.ts";
import type { PaneRow } from "./pane-list.ts";
import { type RecordedServerDeps, reopenRecorded } from "./reopen.ts";

export interface FailedCreate {
  readonly spec: RuntimeSpec;
  readonly files: LaunchFiles;
  readonly error: unknown;
}

/**
 * Takes back whatever there is of a launch. Returns the error to fail with: the first one, with what is left
 * or may be in `details.left`. Never rejects.
 */
export async function afterUndo(deps: RecordedServerDeps, failed: FailedCreate): Promise<unknown> {
  const { error } = failed;
  const left = [...(await removeFiles(failed.files)), ...(await takeBack(deps, failed.spec))];
  if (left.length === 0) return error;
  const first = isAoError(error) ? error : new AoError("internal", errorMessage(error));
  const message = `${first.message}; it could not be taken back: ${describeLeft(left)}`;
  return new AoError(first.code, message, {
    ...(first.hint !== null && { hint: first.hint }),
    details: { ...first.details, left },
    cause: error,
  });
}

/** Without its script a session that tmux still makes starts no agent. */
async function removeFiles(files: LaunchFiles): Promise<readonly Leftover[]> {
  try {
    await removeLaunchFiles(files);
    return [];
  } catch (error) {
    return [{ what: "launch file", where: files.scriptPath, why: errorMessage(error) }];
  }
}

async function takeBack(deps: RecordedServerDeps, spec: RuntimeSpec): Promise<readonly Leftover[]> {
  const { socketPath } = deps;
  const { sessionId, launchId } = spec;
  const found = await paneOf(deps, spec);
  const unseen =
    found.kind === "unknown"
      ? [
          {
            what: "tmux session",
            where: `${sessionId} on ${socketPath}`,
            why: `could not look: ${found.why}`,
          },
        ]
      : [];
  const pane = found.kind === "known" ? found.pane : null;
  try {
    const doomed = { socketPath, sessionId, launchId, agent: null, pane };
    return [...(await tearDown(deps, doomed)), ...unseen];
  } catch (error) {
    const left = pane === null ? unseen : [sessionLeft(socketPath, pane)];
    return [{ what: "agent of launch", where: launchId, why: errorMessage(error) }, ...left];
  }
}

type Found =
  | { readonly kind: "known"; readonly pane: PaneRow | null }
  | { readonly kind: "unknown"; readonly why: string };

async function paneOf(deps: RecordedServerDeps, { sessionId, launchId }: RuntimeSpec): Promise<Found> {
  try {
    await reopenRecorded(deps);
    const answer = await askForCertain(deps);
    if (answer.kind === "failed") return { kind: "unknown", why: answer.cause };
    const panes = answer.kind === "panes" ? answer.panes : [];
    const isOurs = (row: PaneRow) => row.aoSessionId === sessionId && row.launchId === launchId;
    return { kind: "known", pane: panes.find(isOurs) ?? null };
  } catch (error) {
    return { kind: "unknown", why: errorMessage(error) };
  }
}

function sessionLeft(socketPath: string, { sessionId }: PaneRow): Leftover {
  return {
    what: "tmux session",
    where: `${sessionId} on ${socketPath}`,
    why: "its agent could not be ended",
  };
}
