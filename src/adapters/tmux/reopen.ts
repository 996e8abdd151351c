import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessFact } from "../../domain/facts.ts";
import type { ProcessIdentity } from "../../domain/session.ts";
import { askServer, type ServerAnswer, type TmuxDeps } from "./ask-server.ts";
import type { ServerRecord } from "./server-record.ts";

/** A server that ends unlinks its socket a moment before its process is gone. */
export const ENDING_MS = 50;
const REOPENED_WITHIN_MS = 600;
const POLL_MS = 30;

export interface RecordedServerDeps extends TmuxDeps {
  readonly socketPath: string;
  readonly servers: ServerRecord;
}

/**
 * As `Runtime.reopen`, for the recorded server. Costs one look at the file system when its socket is there.
 *
 * @throws AoError runtime_unavailable when it cannot be told which server was recorded.
 */
export async function reopenRecorded(deps: RecordedServerDeps): Promise<void> {
  if (existsSync(deps.socketPath)) return;
  const recorded = await deps.servers.read();
  if (recorded !== undefined) await reopen(deps, deps.socketPath, recorded);
}

/**
 * Has a server that lives but lost its socket open it anew, and asks it. tmux does so on SIGUSR1 (tmux(1),
 * DESCRIPTION of -S; checked with 3.3a). Makes the socket's folder when that is gone, too. Never rejects.
 */
export async function reopen(
  deps: TmuxDeps,
  socketPath: string,
  server: ProcessIdentity,
): Promise<ServerAnswer> {
  if ((await factOf(deps, server)).kind === "alive") await sleep(ENDING_MS);
  if ((await factOf(deps, server)).kind !== "alive") return askServer(deps.run, socketPath);
  await mkdir(dirname(socketPath), { recursive: true, mode: 0o700 }).catch(() => undefined);
  await deps.processes.signal(server, "SIGUSR1").catch(() => undefined);
  const untilMs = performance.now() + REOPENED_WITHIN_MS;
  let answer = await askServer(deps.run, socketPath);
  while (answer.kind === "no_server" && performance.now() < untilMs) {
    await sleep(POLL_MS);
    answer = await askServer(deps.run, socketPath);
  }
  return answer;
}

async function factOf({ processes }: TmuxDeps, server: ProcessIdentity): Promise<ProcessFact> {
  const [fact] = await processes.look([server]);
  return fact ?? { kind: "indeterminate" };
}

/** Why nothing is known of a server that runs and does not listen, and how it is mended. Pure. */
export function deafCause({ pid }: Pick<ProcessIdentity, "pid">, socketPath: string): string {
  return `tmux server ${pid} runs, but does not listen on ${socketPath}; ao reconcile or kill -USR1 ${pid} mends it`;
}
