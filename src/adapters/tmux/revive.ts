import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessIdentity } from "../../domain/session.ts";
import { askServer, type ServerAnswer, type TmuxDeps } from "./ask-server.ts";

/** A server that ends unlinks its socket a moment before its process is gone. */
const ENDING_MS = 50;
const REVIVAL_MS = 600;
const REVIVAL_POLL_MS = 30;

/**
 * Has a server that lives but lost its socket open it anew, and asks it. tmux does so on SIGUSR1 (tmux(1),
 * DESCRIPTION of -S; checked with 3.3a). Never rejects.
 */
export async function revive(
  deps: TmuxDeps,
  socketPath: string,
  server: ProcessIdentity,
): Promise<ServerAnswer> {
  await sleep(ENDING_MS);
  const [fact] = await deps.processes.look([server]);
  if (fact?.kind !== "alive") return askServer(deps.run, socketPath);
  await mkdir(dirname(socketPath), { recursive: true, mode: 0o700 }).catch(() => undefined);
  await deps.processes.signal(server, "SIGUSR1").catch(() => undefined);
  const untilMs = performance.now() + REVIVAL_MS;
  let answer = await askServer(deps.run, socketPath);
  while (answer.kind === "no_server" && performance.now() < untilMs) {
    await sleep(REVIVAL_POLL_MS);
    answer = await askServer(deps.run, socketPath);
  }
  return answer;
}
