import { assertNever } from "../../domain/assert-never.ts";
import type { ProcessFact } from "../../domain/facts.ts";
import type { ProcessIdentity } from "../../domain/session.ts";
import type { RuntimeTarget } from "../../ports/runtime.ts";
import { askServer, type ServerAnswer, type TmuxDeps } from "./ask-server.ts";
import type { PaneRow } from "./pane-list.ts";
import { revive } from "./revive.ts";

/** Where a runtime is. `unknown` says nothing about it. */
export type Location =
  | { readonly kind: "found"; readonly pane: PaneRow; readonly serverVersion: string }
  | { readonly kind: "gone" }
  | { readonly kind: "unknown"; readonly cause: string };

export interface Sighting {
  readonly location: Location;
  readonly process: ProcessFact;
}

function isOf(target: RuntimeTarget, pane: PaneRow): boolean {
  const { handle, launchId } = target;
  return (
    pane.sessionId === handle.id &&
    pane.paneId === handle.paneId &&
    pane.launchId === launchId &&
    pane.serverPid === handle.server.pid
  );
}

/**
 * What an answer and a look at the recorded server say of one runtime. Pure. It is gone only when its own
 * server says so or is dead; a new server of the same socket gives the same ids to others.
 */
export function decideLocation(target: RuntimeTarget, answer: ServerAnswer, server: ProcessFact): Location {
  const pane = answer.kind === "panes" ? answer.panes.find((row) => isOf(target, row)) : undefined;
  if (answer.kind === "panes" && pane !== undefined) {
    return { kind: "found", pane, serverVersion: answer.serverVersion };
  }
  if (server.kind === "dead") return { kind: "gone" };
  const { pid } = target.handle.server;
  const { socketPath } = target.handle;
  switch (answer.kind) {
    case "panes":
      return answer.serverPid === pid && server.kind === "alive"
        ? { kind: "gone" }
        : { kind: "unknown", cause: `another tmux server than ${pid} answers on ${socketPath}` };
    case "no_server":
      return {
        kind: "unknown",
        cause: `tmux server ${pid} does not listen on ${socketPath}; kill -USR1 ${pid} makes it`,
      };
    case "failed":
      return { kind: "unknown", cause: answer.cause };
    default:
      return assertNever(answer);
  }
}

/**
 * Looks for all targets, with one call to each server and one look at all processes, in the order given.
 * A server that lives but lost its socket is told to open it again, and asked once more. Never rejects.
 */
export async function locateAll(
  deps: TmuxDeps,
  targets: readonly RuntimeTarget[],
): Promise<readonly Sighting[]> {
  const first = await lookOnce(deps, targets, new Map());
  const deaf = deafServers(first);
  if (deaf.size === 0) return first.map(({ sighting }) => sighting);
  const revived = await Promise.all(
    [...deaf].map(
      async ([socketPath, server]) => [socketPath, await revive(deps, socketPath, server)] as const,
    ),
  );
  const known = new Map([
    ...first.map(({ socketPath, answer }) => [socketPath, answer] as const),
    ...revived,
  ]);
  return (await lookOnce(deps, targets, known)).map(({ sighting }) => sighting);
}

/** Looks for one target; as `locateAll`. */
export async function locate(deps: TmuxDeps, target: RuntimeTarget): Promise<Sighting> {
  const [sighting] = await locateAll(deps, [target]);
  return sighting ?? { location: { kind: "gone" }, process: { kind: "indeterminate" } };
}

interface Looked {
  readonly socketPath: string;
  readonly server: ProcessIdentity;
  readonly serverFact: ProcessFact;
  readonly answer: ServerAnswer;
  readonly sighting: Sighting;
}

async function lookOnce(
  deps: TmuxDeps,
  targets: readonly RuntimeTarget[],
  known: ReadonlyMap<string, ServerAnswer>,
): Promise<readonly Looked[]> {
  const socketPaths = [...new Set(targets.map(({ handle }) => handle.socketPath))];
  const [answers, facts] = await Promise.all([
    Promise.all(socketPaths.map(async (path) => known.get(path) ?? (await askServer(deps.run, path)))),
    deps.processes.look(targets.flatMap(({ handle, process }) => [handle.server, process ?? handle.server])),
  ]);
  return targets.map((target, index) => {
    const { server, socketPath } = target.handle;
    const answer = answers[socketPaths.indexOf(socketPath)] ?? { kind: "failed", cause: "not asked" };
    const serverFact = facts[2 * index] ?? { kind: "indeterminate" };
    const processFact = facts[2 * index + 1] ?? { kind: "indeterminate" };
    const location = decideLocation(target, answer, serverFact);
    const process: ProcessFact = target.process === null ? { kind: "indeterminate" } : processFact;
    return { socketPath, server, serverFact, answer, sighting: { location, process } };
  });
}

function deafServers(looked: readonly Looked[]): ReadonlyMap<string, ProcessIdentity> {
  return new Map(
    looked
      .filter(({ answer, serverFact }) => answer.kind === "no_server" && serverFact.kind === "alive")
      .map(({ socketPath, server }) => [socketPath, server]),
  );
}
