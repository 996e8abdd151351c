import { assertNever } from "../../domain/assert-never.ts";
import type { RuntimeFact, RuntimeObservation } from "../../domain/facts.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { RuntimeHandle } from "../../domain/session.ts";
import type { Locks } from "../../ports/locks.ts";
import type { ProcessTable } from "../../ports/process-table.ts";
import type { Runtime, RuntimeTarget } from "../../ports/runtime.ts";
import { reapArgs } from "./args.ts";
import { captureRuntime } from "./capture.ts";
import { checkTmux, explainRefusal } from "./check.ts";
import { createRuntime } from "./create.ts";
import { destroyRuntime } from "./destroy.ts";
import { findMarked, marksIn } from "./find-marked.ts";
import type { OwnedDeps } from "./foreign.ts";
import { type Located, locateAll, type Sighting } from "./locate.ts";
import { hasEnding } from "./pane-list.ts";
import { reopenRecorded } from "./reopen.ts";
import { type TmuxProgram, tmuxRunner } from "./run-tmux.ts";
import { readScreens } from "./screens.ts";
import { ownerMark, serverRecord } from "./server-record.ts";
import { removeIdleFolder } from "./server-start.ts";

export interface TmuxRuntimeOptions extends TmuxProgram {
  /** Where new sessions go; every other call uses the socket of its handle. */
  readonly socketPath: string;
  /** Where it keeps what it has to remember of its server; it stands for the data directory, too. */
  readonly stateDir: string;
  readonly processes: ProcessTable;
  /** Between all who use the same socket. */
  readonly locks: Pick<Locks, "withLock">;
}

/** Agents in tmux sessions of a private server with a configuration of its own (design.md §3, 6). */
export function tmuxRuntime(options: TmuxRuntimeOptions): Runtime {
  const { socketPath, stateDir, processes, locks } = options;
  const servers = serverRecord(stateDir);
  const uid = process.getuid?.() ?? 0;
  const deps = {
    ...{ run: tmuxRunner(options), processes, socketPath, servers, locks, uid, stateDir },
    owner: ownerMark(stateDir),
  };
  return {
    name: "tmux",
    check: () => checkTmux(options),
    create: (spec) => createRuntime({ ...deps, explain: () => explainRefusal(options) }, spec),
    look: async (targets) => (await surveyAt(deps, targets)).seen,
    async survey(targets) {
      const { seen, answers } = await surveyAt(deps, targets);
      return { seen, marks: await marksIn(deps, answers.get(socketPath)) };
    },
    reopen: () => reopenRecorded(deps).catch(() => undefined),
    marked: () => findMarked(deps),
    async find(sessionId, launchId) {
      await reopenRecorded(deps);
      const all = await findMarked(deps);
      return all.find((one) => one.sessionId === sessionId && one.launchId === launchId);
    },
    async destroy(target) {
      await destroyRuntime(deps, target);
      await removeIdleFolder(deps);
    },
    capture: (target, lines) => captureRuntime(deps, target, lines),
    screens: (targets) => readScreens(deps, targets),
    attachArgv,
    switchArgv,
  };
}

interface Surveyed {
  readonly seen: ReadonlyMap<SessionId, RuntimeObservation>;
  readonly answers: Located["answers"];
}

async function surveyAt(deps: OwnedDeps, targets: readonly RuntimeTarget[]): Promise<Surveyed> {
  const { sightings, answers } = await locateWithEndings(deps, targets);
  const seen = new Map(
    targets.flatMap((target, index): [SessionId, RuntimeObservation][] => {
      const seen = sightings[index];
      return seen === undefined
        ? []
        : [[target.sessionId, { runtime: runtimeFact(seen), process: seen.process }]];
    }),
  );
  return { seen, answers };
}

/** As `locateAll`, but an agent that is dead has its ending told, where tmux can be brought to tell it. */
async function locateWithEndings(deps: OwnedDeps, targets: readonly RuntimeTarget[]): Promise<Located> {
  const located = await locateAll(deps, targets);
  const untold = targets.filter((_target, index) => isUntold(located.sightings[index]));
  if (untold.length === 0) return located;
  const socketPaths = new Set(untold.map(({ handle }) => handle.socketPath));
  await Promise.all([...socketPaths].map((socketPath) => deps.run(socketPath, reapArgs())));
  return locateAll(deps, targets);
}

function isUntold(sighting: Sighting | undefined): boolean {
  return (
    sighting?.location.kind === "found" && sighting.location.pane.dead && !hasEnding(sighting.location.pane)
  );
}

function runtimeFact({ location, process }: Sighting): RuntimeFact {
  switch (location.kind) {
    case "found": {
      const { dead, exitStatus, signal, diedAtMs, lastOutputAtMs } = location.pane;
      return dead
        ? { kind: "exited", exitStatus, signal, atMs: diedAtMs }
        : { kind: "alive", lastOutputAtMs };
    }
    case "closed":
      // The session is there and its agent is not; of one that lives on only its terminal is missing.
      return process.kind === "dead"
        ? { kind: "exited", exitStatus: null, signal: null }
        : { kind: "missing" };
    case "gone":
      return { kind: "missing" };
    case "unknown":
      return { kind: "probe_failed", cause: location.cause };
    default:
      return assertNever(location);
  }
}

function attachArgv(
  { socketPath, id }: RuntimeHandle,
  env?: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const utf8 = env !== undefined && namesNoCharset(env) ? ["-u"] : [];
  return ["tmux", ...utf8, "-S", socketPath, "attach", "-t", id];
}

/**
 * Whether a locale leaves open in which charset its terminal writes, as `C`, `POSIX` or none at all do. tmux
 * takes that for ASCII and shows all else as `_`, while terminals are UTF-8 (tmux.c of 3.3a, which reads these
 * variables in this order); a charset that is named is meant.
 */
function namesNoCharset(env: Readonly<Record<string, string | undefined>>): boolean {
  const locale = [env["LC_ALL"], env["LC_CTYPE"], env["LANG"]].find((value) => value) ?? "";
  return !/\.[^@]|utf-?8/i.test(locale);
}

/** `TMUX` is `socket path,server pid,session number`; the path may hold commas (tmux(1), ENVIRONMENT). */
function switchArgv(
  { socketPath, id }: RuntimeHandle,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] | undefined {
  const surrounding = env["TMUX"]?.replace(/,\d+,\d+$/, "");
  return surrounding === socketPath ? ["tmux", "-S", socketPath, "switch-client", "-t", id] : undefined;
}
