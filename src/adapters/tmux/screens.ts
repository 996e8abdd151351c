import { randomUUID } from "node:crypto";
import type { SessionId } from "../../domain/ids.ts";
import type { RuntimeTarget } from "../../ports/runtime.ts";
import { screensArgs } from "./args.ts";
import type { TmuxDeps } from "./ask-server.ts";
import { lastLines } from "./capture.ts";
import type { OwnedDeps } from "./foreign.ts";
import { locateAll } from "./locate.ts";

/** Reads the screens of live agents as `Runtime.screens` says. */
export async function readScreens(
  deps: OwnedDeps,
  targets: readonly RuntimeTarget[],
): Promise<ReadonlyMap<SessionId, readonly string[]>> {
  if (targets.length === 0) return new Map();
  const { sightings } = await locateAll(deps, targets);
  const found = targets.filter((_target, index) => {
    const location = sightings[index]?.location;
    return location?.kind === "found" && !location.pane.dead;
  });
  const socketPaths = [...new Set(found.map(({ handle }) => handle.socketPath))];
  const on = (path: string) => found.filter(({ handle }) => handle.socketPath === path);
  const read = await Promise.all(socketPaths.map((path) => readServer(deps, path, on(path))));
  return new Map(read.flat());
}

async function readServer(
  { run }: TmuxDeps,
  socketPath: string,
  targets: readonly RuntimeTarget[],
): Promise<readonly (readonly [SessionId, readonly string[]])[]> {
  // Nothing that an agent shows can pass for the line behind its screen.
  const mark = randomUUID();
  const paneIds = targets.map(({ handle }) => handle.paneId);
  const answer = await run(socketPath, screensArgs(paneIds, mark));
  if (answer.kind !== "ok") return [];
  const screens = screensIn(answer.stdout, mark);
  return targets.flatMap(({ sessionId }, index) => {
    const screen = screens.get(index);
    return screen === undefined ? [] : [[sessionId, lastLines(screen, Number.POSITIVE_INFINITY)] as const];
  });
}

/** Screens by their place in the question. Pure. */
function screensIn(stdout: string, mark: string): ReadonlyMap<number, string> {
  const screens = new Map<number, string>();
  let lines: string[] = [];
  for (const line of stdout.split("\n")) {
    if (line.startsWith(`${mark} `)) {
      screens.set(Number(line.slice(mark.length + 1)), lines.join("\n"));
      lines = [];
    } else lines.push(line);
  }
  return screens;
}
