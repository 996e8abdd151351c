import { AoError } from "../../domain/errors.ts";
import type { OperationOwner } from "../../domain/operation.ts";
import type { Locks } from "../../ports/locks.ts";

/** Locks within one process, with the levers a test pulls. */
export interface MemoryLocks extends Locks {
  /** Lets another process hold a lock until `release` is called, or it dies. */
  holdBy(name: string, owner: OperationOwner): { release(): void };
  /** Names of the locks that are held, sorted. */
  held(): readonly string[];
}

interface Held {
  readonly owner: OperationOwner;
  /** Resolves when it is free again. */
  readonly freed: Promise<void>;
  free(): void;
}

const OWNER: OperationOwner = {
  process: { pid: 100, startTime: "1", bootId: "memory-boot" },
  command: "ao",
  sinceMs: 1_700_000_000_000,
};

/** An in-memory twin of the real locks; passes the same contract. Waiting takes real time. */
export function memoryLocks(): MemoryLocks {
  const locks = new Map<string, Held>();

  function take(name: string, owner: OperationOwner): Held {
    let resolve: () => void = () => undefined;
    const freed = new Promise<void>((done) => {
      resolve = done;
    });
    const held: Held = {
      ...{ owner, freed },
      free() {
        if (locks.get(name) === held) locks.delete(name);
        resolve();
      },
    };
    locks.set(name, held);
    return held;
  }

  async function acquire(name: string, waitMs: number): Promise<Held> {
    const untilMs = performance.now() + waitMs;
    for (let holder = locks.get(name); holder !== undefined; holder = locks.get(name)) {
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) throw heldByOther(name, holder.owner);
      await freedWithin(holder, leftMs);
    }
    return take(name, OWNER);
  }

  return {
    async withLock(name, work, { waitMs }) {
      const mine = await acquire(name, waitMs);
      try {
        return await work();
      } finally {
        mine.free();
      }
    },
    sweep: async () => {},
    holdBy(name, owner) {
      const held = take(name, owner);
      return { release: () => held.free() };
    },
    held: () => [...locks.keys()].sort(),
  };
}

async function freedWithin({ freed }: Held, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((wake) => {
    timer = setTimeout(wake, ms);
  });
  await Promise.race([freed, late]);
  clearTimeout(timer);
}

function heldByOther(name: string, holder: OperationOwner): AoError {
  const who = `${holder.command} (process ${holder.process.pid})`;
  return new AoError("operation_in_progress", `${name} is held by ${who}`, { details: { holder } });
}
