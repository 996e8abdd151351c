import { AoError } from "../../domain/errors.ts";
import type { RuntimeObservation } from "../../domain/facts.ts";
import type { LaunchId, SessionId } from "../../domain/ids.ts";
import type { ProcessIdentity } from "../../domain/session.ts";
import type {
  MarkedRuntime,
  Runtime,
  RuntimeSpec,
  RuntimeSurvey,
  RuntimeTarget,
  StartedRuntime,
} from "../../ports/runtime.ts";
import { type MemoryRun, startFailure } from "./memory-run.ts";

type Method = "create" | "look" | "marked" | "find" | "destroy" | "capture" | "screens";

/** The runtime port without processes, with the levers a test pulls. */
export interface MemoryRuntime extends Runtime {
  /** One entry a call, in order: `runtime.<method> <session>`, `look` with all its sessions, `marked` alone. */
  readonly log: string[];
  /** Every spec given to `create`, in order, failed ones included. */
  readonly created: readonly RuntimeSpec[];
  /** Every target given to `destroy`, in order, failed ones included. */
  readonly destroyed: readonly RuntimeTarget[];
  /** The next call of `method` is logged, changes nothing and throws `error`; a `look` is a failed probe of all. */
  failNext(method: Method, error: Error): void;
  /** What `look` says of a session from now on, whatever is true; `null` takes that back. */
  setLook(sessionId: SessionId, observation: RuntimeObservation | null): void;
  /** Ends the agent; its runtime stays, as a tmux pane remains on exit. */
  exitAgent(sessionId: SessionId, exitStatus: number | null, signal?: string | null): void;
  /** Takes runtime and agent away, as a killed server does. */
  loseRuntime(sessionId: SessionId): void;
  /** Lets no runtime be seen until `reopen`, as when a socket was removed. */
  loseSight(): void;
  /** Sessions that have a runtime, those of dead agents included. */
  sessions(): readonly SessionId[];
}

interface Life {
  readonly launchId: LaunchId;
  readonly started: StartedRuntime;
  readonly createdAtMs: number;
  readonly output: readonly string[];
  readonly observation: RuntimeObservation;
}

interface World {
  readonly log: string[];
  readonly behaviour: (spec: RuntimeSpec) => MemoryRun;
  readonly lives: Map<SessionId, Life>;
  readonly looks: Map<SessionId, RuntimeObservation>;
  readonly failures: Map<Method, Error[]>;
  readonly created: RuntimeSpec[];
  readonly destroyed: RuntimeTarget[];
  readonly sight: { isLost: boolean };
}

const SERVER: ProcessIdentity = { pid: 100, startTime: "1", bootId: "memory-boot" };
const SOCKET = "/memory/socket";
const OUT_OF_SIGHT = "the runtimes do not answer";
const T0_MS = 1_700_000_000_000;
const ALIVE: RuntimeObservation = {
  runtime: { kind: "alive", lastOutputAtMs: null },
  process: { kind: "alive" },
};
const GONE: RuntimeObservation = { runtime: { kind: "missing" }, process: { kind: "dead" } };

/**
 * An in-memory twin of the tmux adapter; passes the same contract. `behaviour` says what the agent of a
 * spec does; without it every agent stays and prints nothing.
 */
export function memoryRuntime(
  options: { readonly log?: string[]; readonly behaviour?: (spec: RuntimeSpec) => MemoryRun } = {},
): MemoryRuntime {
  const world: World = {
    log: options.log ?? [],
    behaviour: options.behaviour ?? (() => ({ kind: "stays", output: [] })),
    lives: new Map(),
    looks: new Map(),
    failures: new Map(),
    created: [],
    destroyed: [],
    sight: { isLost: false },
  };
  return { ...levers(world), ...port(world) };
}

function levers(world: World): Omit<MemoryRuntime, keyof Runtime> {
  const { log, created, destroyed, lives, looks, failures, sight } = world;
  return {
    log,
    created,
    destroyed,
    failNext: (method, error) => void failures.set(method, [...(failures.get(method) ?? []), error]),
    setLook(sessionId, observation) {
      if (observation === null) looks.delete(sessionId);
      else looks.set(sessionId, observation);
    },
    exitAgent(sessionId, exitStatus, signal = null) {
      const life = lives.get(sessionId);
      if (life === undefined) return;
      const observation: RuntimeObservation = {
        runtime: { kind: "exited", exitStatus, signal },
        process: { kind: "dead" },
      };
      lives.set(sessionId, { ...life, observation });
    },
    loseRuntime: (sessionId) => void lives.delete(sessionId),
    loseSight() {
      sight.isLost = true;
    },
    sessions: () => [...lives.keys()],
  };
}

function port(world: World): Runtime {
  const { lives } = world;
  return {
    name: "memory",
    check: async () => ({ kind: "ok", version: "1", path: "memory" }),

    async create(spec) {
      world.created.push(spec);
      begin(world, "create", spec.sessionId);
      reopen(world);
      return start(world, spec);
    },

    look: async (targets) => look(world, targets),
    survey: async (targets) => survey(world, targets),
    reopen: async () => reopen(world),

    marked: async () => marked(world),

    async find(sessionId, launchId) {
      begin(world, "find", sessionId);
      reopen(world);
      const life = lives.get(sessionId);
      return life?.launchId === launchId ? markedLife(sessionId, life) : undefined;
    },

    async destroy(target) {
      world.destroyed.push(target);
      begin(world, "destroy", target.sessionId);
      reopen(world);
      if (lifeOf(world, target) !== undefined) lives.delete(target.sessionId);
    },

    async capture(target, lines) {
      begin(world, "capture", target.sessionId);
      requireSight(world);
      const life = lifeOf(world, target);
      if (life === undefined) throw new AoError("not_running", `the runtime of ${target.sessionId} is gone`);
      return life.output.slice(-lines);
    },

    async screens(targets) {
      begin(world, "screens", targets.map(({ sessionId }) => sessionId).join(" "));
      if (world.sight.isLost) return new Map();
      return new Map(
        targets.flatMap((target): [SessionId, readonly string[]][] => {
          const life = lifeOf(world, target);
          return life === undefined ? [] : [[target.sessionId, life.output]];
        }),
      );
    },

    attachArgv: (handle) => ["memory", "attach", handle.id],
    switchArgv: (handle, env) =>
      env["TMUX"]?.startsWith(`${handle.socketPath},`) === true ? ["memory", "switch", handle.id] : undefined,
  };
}

function marked(world: World): readonly MarkedRuntime[] {
  begin(world, "marked", "");
  requireSight(world);
  return [...world.lives].map(([sessionId, life]) => markedLife(sessionId, life));
}

function begin(world: World, method: Method, subject: string): void {
  world.log.push(`runtime.${method} ${subject}`.trimEnd());
  const failure = world.failures.get(method)?.shift();
  if (failure !== undefined) throw failure;
}

function reopen({ sight }: World): void {
  sight.isLost = false;
}

function requireSight({ sight }: World): void {
  if (sight.isLost) throw new AoError("runtime_unavailable", OUT_OF_SIGHT);
}

function lifeOf(world: World, target: RuntimeTarget): Life | undefined {
  const life = world.lives.get(target.sessionId);
  return life?.launchId === target.launchId ? life : undefined;
}

function start(world: World, spec: RuntimeSpec): StartedRuntime {
  const { sessionId, launchId } = spec;
  if (world.lives.has(sessionId)) {
    throw new AoError("operation_in_progress", `a runtime of ${sessionId} exists already`);
  }
  spec.fence?.();
  const run = world.behaviour(spec);
  if (run.kind !== "stays") throw startFailure(run, spec);
  const number = world.created.length;
  const started: StartedRuntime = {
    handle: { name: "memory", id: `$${number}`, paneId: `%${number}`, socketPath: SOCKET, server: SERVER },
    process: { pid: 1000 + number, startTime: String(number), bootId: SERVER.bootId },
  };
  const createdAtMs = T0_MS + 1000 * number;
  world.lives.set(sessionId, { launchId, started, createdAtMs, output: run.output, observation: ALIVE });
  return started;
}

function markedLife(
  sessionId: SessionId,
  { launchId, started, createdAtMs, observation }: Life,
): MarkedRuntime {
  const process = observation.process.kind === "alive" ? started.process : null;
  return { sessionId, launchId, handle: started.handle, process, createdAtMs };
}

function look(world: World, targets: readonly RuntimeTarget[]): ReadonlyMap<SessionId, RuntimeObservation> {
  world.log.push(`runtime.look ${targets.map(({ sessionId }) => sessionId).join(" ")}`);
  const failure = world.failures.get("look")?.shift() ?? (world.sight.isLost && new Error(OUT_OF_SIGHT));
  const observe = (target: RuntimeTarget): RuntimeObservation => {
    const seen = world.looks.get(target.sessionId) ?? lifeOf(world, target)?.observation ?? GONE;
    return !failure ? seen : { ...seen, runtime: { kind: "probe_failed", cause: failure.message } };
  };
  return new Map(targets.map((target) => [target.sessionId, observe(target)]));
}

function survey(world: World, targets: readonly RuntimeTarget[]): RuntimeSurvey {
  const isCertain = !world.sight.isLost && targets.length > 0;
  const marks = [...world.lives].map(([sessionId, { launchId }]) => ({ sessionId, launchId }));
  return { seen: look(world, targets), marks: isCertain ? marks : null };
}
