import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { assertNever } from "../../domain/assert-never.ts";
import { AoError } from "../../domain/errors.ts";
import type { RuntimeSpec, StartedRuntime } from "../../ports/runtime.ts";
import { type NewSession, newSessionArgs } from "./args.ts";
import { watchBirth } from "./birth.ts";
import { askForCertain, type FindDeps } from "./find-marked.ts";
import { type LaunchFiles, launchFiles, removeLaunchFiles, writeLaunchFiles } from "./launch-files.ts";
import { type PaneRow, parsePaneList } from "./pane-list.ts";
import { reopenRecorded } from "./reopen.ts";
import type { TmuxAnswer } from "./run-tmux.ts";
import { removeIdleFolder, type ServerStartDeps, startingServer } from "./server-start.ts";
import { prepareSocketFolder } from "./socket-path.ts";
import { unavailable } from "./unavailable.ts";
import { afterUndo } from "./undo-create.ts";

export interface CreateDeps extends FindDeps, ServerStartDeps {
  /** What to say of a tmux that refused for no known reason, for example that it is too old. */
  readonly explain: () => Promise<string | undefined>;
}

/** A server may be just ending with its last session, or just starting for another `ao`. */
const SERVER_RACE_MS = 3000;
const RETRY_MS = 20;

/** Starts an agent as `Runtime.create` says. */
export async function createRuntime(deps: CreateDeps, spec: RuntimeSpec): Promise<StartedRuntime> {
  await prepareSocketFolder(deps.socketPath, deps.uid);
  await reopenRecorded(deps);
  await refuseSecondServer(deps);
  const files = launchFiles(spec);
  const fence = rememberingFence(spec);
  const failing = async (error: unknown): Promise<never> => {
    // Whoever works on it by now has launch files and session of the same names.
    if (error === fence.refusal()) throw error;
    const told = await afterUndo(deps, { spec, files, error });
    await removeIdleFolder(deps);
    throw told;
  };
  const answer = await newSession(deps, { ...spec, fence: fence.ask }, sessionOf(deps, spec, files)).catch(
    failing,
  );
  if (answer.kind !== "missing") return bringUp(deps, { spec, files, answer }).catch(failing);
  await removeLaunchFiles(files);
  throw unavailable(answer.cause);
}

/** The fence of a start, and what it threw. */
function rememberingFence({ fence }: RuntimeSpec) {
  let refusal: unknown;
  const ask = (): void => {
    try {
      fence?.();
    } catch (error) {
      refusal = error;
      throw error;
    }
  };
  return { ask, refusal: () => refusal };
}

/**
 * A server that lives and cannot be heard would get a second one beside it, and nobody would find it again.
 *
 * @throws AoError runtime_unavailable when there is one, or it cannot be told which one was recorded.
 */
async function refuseSecondServer(deps: CreateDeps): Promise<void> {
  const untilMs = performance.now() + SERVER_RACE_MS;
  for (;;) {
    const answer = await askForCertain(deps);
    if (answer.kind !== "failed" || answer.isDeaf !== true) return;
    if (performance.now() >= untilMs) throw unavailable(answer.cause);
    await sleep(RETRY_MS);
  }
}

function sessionOf(
  { owner }: CreateDeps,
  { sessionId, launchId, workspacePath }: RuntimeSpec,
  { scriptPath }: LaunchFiles,
): NewSession {
  return { configPath: null, sessionId, launchId, owner, workspacePath, scriptPath };
}

const NO_SERVER: TmuxAnswer = { kind: "refused", refusal: "no_server", message: "no server running" };

type NewSessionAnswer = Exclude<TmuxAnswer, { kind: "missing" }>;

async function bringUp(
  deps: CreateDeps,
  {
    spec,
    files,
    answer,
  }: { readonly spec: RuntimeSpec; readonly files: LaunchFiles; readonly answer: NewSessionAnswer },
): Promise<StartedRuntime> {
  if (answer.kind !== "ok") throw await startError(deps, spec, answer);
  const pane = startedPane(answer.stdout);
  const started = await watchBirth(deps, { spec, pane, socketPath: deps.socketPath, files });
  await deps.servers.write(started.handle.server);
  return started;
}

/** Joins the server that is there, or starts one: alone, as whoever takes the folder of an ended one away. */
async function newSession(deps: CreateDeps, spec: RuntimeSpec, session: NewSession): Promise<TmuxAnswer> {
  const untilMs = performance.now() + SERVER_RACE_MS;
  const attempt = async (configPath: string | null) => {
    // Each attempt needs the environment file anew: a session that was lost at once has used it up.
    spec.fence?.();
    await writeLaunchFiles(spec);
    spec.fence?.();
    return deps.run(deps.socketPath, newSessionArgs({ ...session, configPath }));
  };
  for (;;) {
    const joined = existsSync(deps.socketPath) ? await attempt(null) : NO_SERVER;
    if (!isServerRace(joined)) return joined;
    const started = (await startingServer(deps, attempt)) ?? joined;
    if (!isServerRace(started) || performance.now() >= untilMs) return started;
    await sleep(RETRY_MS);
  }
}

function startedPane(output: string): PaneRow {
  const pane = parsePaneList(output)?.panes[0];
  if (pane === undefined) throw unavailable("it gave no sensible answer to new-session");
  return pane;
}

function isServerRace(answer: TmuxAnswer): boolean {
  return answer.kind === "refused" && (answer.refusal === "no_server" || answer.refusal === "server_lost");
}

async function startError(
  deps: CreateDeps,
  spec: RuntimeSpec,
  answer: Exclude<NewSessionAnswer, { kind: "ok" }>,
): Promise<AoError> {
  switch (answer.kind) {
    case "failed":
      return unavailable(answer.cause);
    case "refused":
      return answer.refusal === "duplicate_session"
        ? new AoError("operation_in_progress", `a tmux session of ${spec.sessionId} exists already`)
        : unavailable(answer.message, await deps.explain());
    default:
      return assertNever(answer);
  }
}
