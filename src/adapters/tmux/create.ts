import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { assertNever } from "../../domain/assert-never.ts";
import { AoError, errorMessage } from "../../domain/errors.ts";
import type { RuntimeSpec, StartedRuntime } from "../../ports/runtime.ts";
import { type NewSession, newSessionArgs } from "./args.ts";
import { askServer } from "./ask-server.ts";
import { watchBirth } from "./birth.ts";
import { writeConfig } from "./config.ts";
import { tearDown } from "./destroy.ts";
import type { FindDeps } from "./find-marked.ts";
import { type LaunchFiles, launchFiles, writeLaunchFiles } from "./launch-files.ts";
import { type PaneRow, parsePaneList } from "./pane-list.ts";
import { revive } from "./revive.ts";
import type { TmuxAnswer } from "./run-tmux.ts";
import { prepareSocketFolder } from "./socket-path.ts";
import { unavailable } from "./unavailable.ts";

export interface CreateDeps extends FindDeps {
  readonly uid: number;
  /** What to say of a tmux that refused for no known reason, for example that it is too old. */
  readonly explain: () => Promise<string | undefined>;
}

/** A server may be just ending with its last session, or just starting for another `ao`. */
const SERVER_RACE_MS = 3000;
const RETRY_MS = 20;

/** Starts an agent as `Runtime.create` says. */
export async function createRuntime(deps: CreateDeps, spec: RuntimeSpec): Promise<StartedRuntime> {
  await prepareSocketFolder(deps.socketPath, deps.uid);
  const configPath = await writeConfig(deps.socketPath);
  await reviveLost(deps);
  const files = launchFiles(spec);
  try {
    const pane = await startSession(deps, spec, {
      configPath,
      sessionId: spec.sessionId,
      launchId: spec.launchId,
      owner: deps.owner,
      workspacePath: spec.workspacePath,
      scriptPath: files.scriptPath,
    });
    const started = await watchBirth(deps, { spec, pane, socketPath: deps.socketPath, files });
    await deps.servers.write(started.handle.server);
    return started;
  } catch (error) {
    await undo(deps, { spec, files, error });
    throw error;
  }
}

/** Without its socket a server that lives would get a second one beside it, and nobody would find it again. */
async function reviveLost(deps: CreateDeps): Promise<void> {
  if (existsSync(deps.socketPath)) return;
  const recorded = await deps.servers.read().catch(() => undefined);
  if (recorded === undefined) return;
  const [fact] = await deps.processes.look([recorded]);
  if (fact?.kind === "alive") await revive(deps, deps.socketPath, recorded);
}

async function startSession(deps: CreateDeps, spec: RuntimeSpec, session: NewSession): Promise<PaneRow> {
  const untilMs = performance.now() + SERVER_RACE_MS;
  for (;;) {
    // Each attempt needs the environment file anew: a session that was lost at once has used it up.
    await writeLaunchFiles(spec);
    const answer = await deps.run(deps.socketPath, newSessionArgs(session));
    if (answer.kind === "ok") return startedPane(answer.stdout);
    if (!isServerRace(answer) || performance.now() >= untilMs) throw await startError(deps, spec, answer);
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
  answer: Exclude<TmuxAnswer, { kind: "ok" }>,
): Promise<AoError> {
  switch (answer.kind) {
    case "missing":
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

/** Takes back whatever there is of a launch, and fails with the first error inside when it cannot. */
async function undo(
  deps: CreateDeps,
  failed: { readonly spec: RuntimeSpec; readonly files: LaunchFiles; readonly error: unknown },
): Promise<void> {
  const { spec, files, error } = failed;
  const left = await takeBack(deps, spec, files).catch((why: unknown) => [errorMessage(why)]);
  if (left.length === 0) return;
  throw new AoError(
    "teardown_incomplete",
    `${spec.sessionId} did not start (${errorMessage(error)}) and could not be taken back: ${left.join(", ")}`,
    { details: { left }, cause: error },
  );
}

async function takeBack(deps: CreateDeps, spec: RuntimeSpec, files: LaunchFiles): Promise<readonly string[]> {
  const { socketPath } = deps;
  const { launchId } = spec;
  await Promise.all([rm(files.environmentPath, { force: true }), rm(files.scriptPath, { force: true })]);
  const answer = await askServer(deps.run, socketPath);
  const panes = answer.kind === "panes" ? answer.panes : [];
  const pane = panes.find((row) => row.launchId === launchId) ?? null;
  return tearDown(deps, { socketPath, launchId, agent: null, pane });
}
