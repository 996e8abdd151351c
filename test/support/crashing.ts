import type { SessionDeps } from "../../src/lifecycle/deps.ts";
import type { World } from "./world.ts";

/** How the work of one process ended. */
export type Ending<Result> =
  | { readonly kind: "done"; readonly result: Result }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "crashed"; readonly at: string };

export interface Run<Result> {
  readonly ending: Ending<Result>;
  /** The boundaries that were crossed, the one of the crash included. */
  readonly crossed: readonly string[];
}

export interface CrashOptions {
  /** The number of the boundary at which the process is killed, from 1; never when absent. */
  readonly crashAt?: number;
  /** The name of the boundary at which the process is killed. */
  readonly crashAtBoundary?: string;
  /** The process is killed in the middle of making a worktree. */
  readonly inCreate?: boolean;
}

/**
 * Runs `work` in a process of its own on the world. When it is killed nothing of it runs any more, no undo
 * and no renewal either, as after SIGKILL.
 */
export async function inProcess<Result>(
  world: World,
  { crashAt = Number.POSITIVE_INFINITY, crashAtBoundary, inCreate = false }: CrashOptions,
  work: (deps: SessionDeps) => Promise<Result>,
): Promise<Run<Result>> {
  const process = world.processes.add({ command: "ao" });
  const crossed: string[] = [];
  let isDead = false;
  let tellCrash: (at: string) => void = () => undefined;
  const crash = new Promise<string>((resolve) => {
    tellCrash = resolve;
  });
  const never = () => new Promise<never>(() => undefined);
  const die = (at: string): Promise<never> => {
    isDead = true;
    world.processes.kill(process.pid);
    tellCrash(at);
    return never();
  };
  const { deps } = world;
  const own: SessionDeps = {
    ...deps,
    self: { process, command: "ao" },
    boundary: async (name) => {
      if (isDead) await never();
      crossed.push(name);
      if (crossed.length >= crashAt || name === crashAtBoundary) await die(name);
    },
    clock: {
      nowMs: deps.clock.nowMs,
      async sleep(ms, signal) {
        await deps.clock.sleep(ms, signal);
        if (isDead) await never();
      },
    },
    workspace: {
      ...deps.workspace,
      async create(spec, plan) {
        if (!inCreate) return deps.workspace.create(spec, plan);
        world.workspace.breakOff(spec, plan);
        return die("in workspace.create");
      },
    },
  };
  const ending = await Promise.race([
    work(own).then(
      (result): Ending<Result> => ({ kind: "done", result }),
      (error: unknown): Ending<Result> => ({ kind: "failed", error }),
    ),
    crash.then((at): Ending<Result> => ({ kind: "crashed", at })),
  ]);
  world.processes.kill(process.pid);
  return { ending, crossed };
}
