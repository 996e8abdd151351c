import { setTimeout as sleep } from "node:timers/promises";
import { assertNever } from "../../domain/assert-never.ts";
import type { ProcessFact } from "../../domain/facts.ts";
import type { RuntimeTarget } from "../../ports/runtime.ts";
import { askServer, type ServerAnswer } from "./ask-server.ts";
import { foreignness, type OwnedDeps } from "./foreign.ts";
import type { PaneRow } from "./pane-list.ts";
import { deafCause, ENDING_MS, reopen } from "./reopen.ts";
import type { Unreachable } from "./unavailable.ts";

/**
 * Where a runtime is. `closed`: the agent's own pane is not in its session any more, which has others, those
 * of a person; `pane` is one of them. `unknown` says nothing about it; so is one of another data directory.
 */
export type Location =
  | { readonly kind: "found"; readonly pane: PaneRow; readonly serverVersion: string }
  | { readonly kind: "closed"; readonly pane: PaneRow }
  | { readonly kind: "gone" }
  | Unreachable;

export interface Sighting {
  readonly location: Location;
  readonly process: ProcessFact;
}

function isInSession({ handle, sessionId, launchId }: RuntimeTarget, pane: PaneRow): boolean {
  const isMarked = pane.aoSessionId === sessionId && pane.launchId === launchId;
  return isMarked && pane.sessionId === handle.id && pane.serverPid === handle.server.pid;
}

/**
 * What an answer and a look at the recorded server say of one runtime. Pure. It is gone only when its own
 * server says so or is dead; a new server of the same socket gives the same ids to others.
 */
export function decideLocation(target: RuntimeTarget, answer: ServerAnswer, server: ProcessFact): Location {
  const panes = answer.kind === "panes" ? answer.panes.filter((row) => isInSession(target, row)) : [];
  const pane = panes.find(({ paneId }) => paneId === target.handle.paneId);
  if (answer.kind === "panes" && pane !== undefined) {
    return { kind: "found", pane, serverVersion: answer.serverVersion };
  }
  if (server.kind === "dead") return { kind: "gone" };
  const [other] = panes;
  return other === undefined ? whereUnlisted(target, answer, server) : { kind: "closed", pane: other };
}

/** Of a runtime that no answer lists, while its server is not known to be dead. */
function whereUnlisted({ handle }: RuntimeTarget, answer: ServerAnswer, server: ProcessFact): Location {
  const { socketPath } = handle;
  const { pid } = handle.server;
  switch (answer.kind) {
    case "panes":
      return answer.serverPid === pid && server.kind === "alive"
        ? { kind: "gone" }
        : { kind: "unknown", cause: `another tmux server than ${pid} answers on ${socketPath}` };
    case "no_server":
      return {
        kind: "unknown",
        cause:
          server.kind === "alive"
            ? deafCause({ pid }, socketPath)
            : `nobody listens on ${socketPath}, and tmux server ${pid} cannot be told to be dead`,
      };
    case "failed":
      return { kind: "unknown", cause: answer.cause };
    default:
      return assertNever(answer);
  }
}

/** Where all targets are, in the order given, and what the servers answered by which that is known. */
export interface Located {
  readonly sightings: readonly Sighting[];
  readonly answers: ReadonlyMap<string, ServerAnswer>;
}

/**
 * Looks for all targets, with one call to each server and one look at all processes, in the order given.
 * Changes nothing: one whose server lives but lost its socket is unknown. Never rejects.
 */
export async function locateAll(deps: OwnedDeps, targets: readonly RuntimeTarget[]): Promise<Located> {
  const first = await lookOnce(deps, targets);
  if (!first.looked.some(isDeaf)) return locatedBy(first);
  await sleep(ENDING_MS);
  return locatedBy(await lookOnce(deps, targets));
}

function locatedBy({ looked, answers }: LookedOnce): Located {
  return { sightings: looked.map(({ sighting }) => sighting), answers };
}

/** Looks for one target; as `locateAll`. */
export async function locate(deps: OwnedDeps, target: RuntimeTarget): Promise<Sighting> {
  const [sighting] = (await locateAll(deps, [target])).sightings;
  return sighting ?? { location: { kind: "gone" }, process: { kind: "indeterminate" } };
}

/** As `locate`, but a server that lives and lost its socket is told to open it again. For those who change. */
export async function locateReopened(deps: OwnedDeps, target: RuntimeTarget): Promise<Sighting> {
  const { socketPath, server } = target.handle;
  const [looked] = (await lookOnce(deps, [target])).looked;
  if (looked !== undefined && !isDeaf(looked)) return looked.sighting;
  await reopen(deps, socketPath, server);
  return locate(deps, target);
}

/** Of an agent whose process is not recorded: it ran under its server, so no later than in the boot of that. */
function unrecorded(server: ProcessFact): ProcessFact {
  return server.kind === "dead" && server.ofAnotherBoot === true ? server : { kind: "indeterminate" };
}

interface Looked {
  readonly serverFact: ProcessFact;
  readonly answer: ServerAnswer;
  readonly sighting: Sighting;
}

/** Its server lives but lost its socket, or is just ending. */
function isDeaf({ answer, serverFact }: Looked): boolean {
  return answer.kind === "no_server" && serverFact.kind === "alive";
}

interface LookedOnce {
  readonly looked: readonly Looked[];
  readonly answers: ReadonlyMap<string, ServerAnswer>;
}

async function lookOnce(deps: OwnedDeps, targets: readonly RuntimeTarget[]): Promise<LookedOnce> {
  const socketPaths = [...new Set(targets.map(({ handle }) => handle.socketPath))];
  const [asked, facts] = await Promise.all([
    Promise.all(socketPaths.map(async (path) => [path, await askServer(deps.run, path)] as const)),
    deps.processes.look(targets.flatMap(({ handle, process }) => [handle.server, process ?? handle.server])),
  ]);
  const whyForeign = foreignness(deps);
  const panesIn = new Map(asked.map(([path, answer]) => [path, bySession(answer)]));
  const looked = targets.map(async (target, index): Promise<Looked> => {
    const { socketPath, id } = target.handle;
    const answer = panesIn.get(socketPath)?.(id) ?? NOT_ASKED;
    const serverFact = facts[2 * index] ?? { kind: "indeterminate" };
    const processFact = facts[2 * index + 1] ?? { kind: "indeterminate" };
    const location = await ownLocation(whyForeign, target, decideLocation(target, answer, serverFact));
    const process = target.process === null ? unrecorded(serverFact) : processFact;
    return { serverFact, answer, sighting: { location, process } };
  });
  return { looked: await Promise.all(looked), answers: new Map(asked) };
}

const NOT_ASKED: ServerAnswer = { kind: "failed", cause: "not asked" };

/** The answer as far as it is about one session: looking through all panes for each would grow with the square. */
function bySession(answer: ServerAnswer): (sessionId: string) => ServerAnswer {
  if (answer.kind !== "panes") return () => answer;
  const grouped = new Map<string, PaneRow[]>();
  for (const pane of answer.panes) {
    const known = grouped.get(pane.sessionId);
    if (known === undefined) grouped.set(pane.sessionId, [pane]);
    else known.push(pane);
  }
  return (sessionId) => ({ ...answer, panes: grouped.get(sessionId) ?? [] });
}

async function ownLocation(
  whyForeign: ReturnType<typeof foreignness>,
  target: RuntimeTarget,
  location: Location,
): Promise<Location> {
  if (location.kind !== "found" && location.kind !== "closed") return location;
  const cause = await whyForeign(target, location.pane);
  return cause === null ? location : { kind: "unknown", cause, isForeign: true };
}
