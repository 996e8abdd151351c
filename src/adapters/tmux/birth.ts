import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { AoError } from "../../domain/errors.ts";
import type { ProcessIdentity } from "../../domain/session.ts";
import type { RuntimeSpec, StartedRuntime } from "../../ports/runtime.ts";
import { reapArgs } from "./args.ts";
import { askServer, type TmuxDeps } from "./ask-server.ts";
import { captureLines } from "./capture.ts";
import { type LaunchFiles, NO_PROGRAM_STATUS, NO_WORKSPACE_STATUS } from "./launch-files.ts";
import { hasEnding, type PaneRow } from "./pane-list.ts";
import { unavailable } from "./unavailable.ts";

const POLL_MS = 5;
/** A launch script has nothing to wait for; a loaded machine may take a while to run it all the same. */
const SCRIPT_MS = 10_000;
/** tmux learns of a death in two steps, the closed terminal and the status; half a second apart at rest. */
const STATUS_LAG_MS = 3000;
const REAP_EVERY_MS = 100;
const WORDS_LAG_MS = 300;
const LAST_LINES = 20;
/** Of a screen that could not be read so often nothing is known. */
const MAX_FAILURES = 3;

export interface Birth {
  readonly spec: RuntimeSpec;
  readonly pane: PaneRow;
  readonly socketPath: string;
  readonly files: LaunchFiles;
}

/**
 * Resolves when the agent has taken its environment and outlived `settleMs` since.
 *
 * @throws AoError agent_start_failed when it did not, runtime_unavailable when nobody could tell.
 */
export async function watchBirth(deps: TmuxDeps, birth: Birth): Promise<StartedRuntime> {
  const { pane, socketPath } = birth;
  const server = await deps.processes.identify(pane.serverPid);
  if (server === undefined) throw unavailable("its server ended at once");
  const agent = pane.dead ? undefined : await deps.processes.identify(pane.panePid);
  if (agent === undefined || !(await outlivesStart(deps, birth, agent))) throw await deathReport(deps, birth);
  return {
    handle: { name: "tmux", id: pane.sessionId, paneId: pane.paneId, socketPath, server },
    process: agent,
  };
}

async function outlivesStart(deps: TmuxDeps, birth: Birth, agent: ProcessIdentity): Promise<boolean> {
  const scriptUntilMs = performance.now() + SCRIPT_MS;
  const hasRun = await livesUntil(deps, agent, () => {
    if (performance.now() >= scriptUntilMs) {
      throw new AoError("agent_start_failed", `the launch script of ${birth.spec.sessionId} hangs`);
    }
    return !existsSync(birth.files.environmentPath);
  });
  const settlesAtMs = performance.now() + birth.spec.settleMs;
  return hasRun && livesUntil(deps, agent, () => performance.now() >= settlesAtMs);
}

/** Waits for `isReached`; false as soon as the process is dead, also when both come at once. */
async function livesUntil(
  deps: TmuxDeps,
  agent: ProcessIdentity,
  isReached: () => boolean,
): Promise<boolean> {
  for (;;) {
    const reached = isReached();
    const [fact] = await deps.processes.look([agent]);
    if (fact?.kind === "dead") return false;
    // Whoever could not look until the end has not seen it live.
    if (reached && fact?.kind === "probe_failed") throw unavailable(fact.cause);
    if (reached) return true;
    await sleep(POLL_MS);
  }
}

async function deathReport(deps: TmuxDeps, { spec, pane, socketPath, files }: Birth): Promise<AoError> {
  const { exitStatus, signal } = await deadPane(deps, socketPath, pane);
  const output = await lastWords(deps, socketPath, pane);
  const details = { exitStatus, signal, output };
  const unbegun = existsSync(files.environmentPath) ? whyUnbegun(spec, exitStatus) : undefined;
  if (unbegun !== undefined) return new AoError("agent_start_failed", unbegun, { details });
  const how = signal === null ? `exited with status ${exitStatus ?? "unknown"}` : `was ended by ${signal}`;
  const lastLine = output.at(-1);
  const words = lastLine === undefined ? "" : `: ${lastLine.trim()}`;
  return new AoError("agent_start_failed", `the agent of ${spec.sessionId} ${how} at its start${words}`, {
    details,
  });
}

/**
 * What kept the script from becoming the agent, by its status: what it wrote of that may be lost. It takes the
 * environment before it does; an agent may well exit with the same status later.
 */
function whyUnbegun(
  { argv, sessionId, workspacePath }: RuntimeSpec,
  exitStatus: number | null,
): string | undefined {
  if (exitStatus === NO_WORKSPACE_STATUS) return `workspace ${workspacePath} cannot be entered`;
  return exitStatus === NO_PROGRAM_STATUS
    ? `the agent of ${sessionId}, ${argv[0]}, cannot be run`
    : undefined;
}

/**
 * What the agent said last. It may be lost: tmux (3.3a) closes the terminal of a process that is dead when nothing
 * waits to be read there, and on a busy machine Linux may not have handed on all that was written. Its screen may come
 * a moment after its death, or stay empty; that it could not be read, as on a busy machine, does not say that it is.
 */
async function lastWords(
  deps: TmuxDeps,
  socketPath: string,
  { paneId }: PaneRow,
): Promise<readonly string[]> {
  const untilMs = performance.now() + WORDS_LAG_MS;
  for (let failures = 0; ; ) {
    const asked = captureLines(deps, socketPath, { paneId, dead: true, lines: LAST_LINES });
    const output = await asked.catch(() => undefined);
    if (output === undefined) failures += 1;
    else if (output.length > 0 || performance.now() >= untilMs) return output;
    if (failures >= MAX_FAILURES && performance.now() >= untilMs) return [];
    await sleep(POLL_MS);
  }
}

async function deadPane(deps: TmuxDeps, socketPath: string, pane: PaneRow): Promise<PaneRow> {
  const startedMs = performance.now();
  let reapAtMs = 30;
  for (;;) {
    const row = (await findPane(deps, socketPath, pane)) ?? pane;
    const waitedMs = performance.now() - startedMs;
    // The status may be there before the last output has been read; a dead pane has been read to its end.
    if ((row.dead && hasEnding(row)) || waitedMs >= STATUS_LAG_MS) return row;
    if (waitedMs >= reapAtMs) {
      reapAtMs = waitedMs + REAP_EVERY_MS;
      await deps.run(socketPath, reapArgs());
    }
    await sleep(POLL_MS);
  }
}

async function findPane(deps: TmuxDeps, socketPath: string, pane: PaneRow): Promise<PaneRow | undefined> {
  const answer = await askServer(deps.run, socketPath);
  return answer.kind === "panes" ? answer.panes.find(({ paneId }) => paneId === pane.paneId) : undefined;
}
