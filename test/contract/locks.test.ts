import { expect } from "vitest";
import { fileLocks } from "../../src/adapters/locks/file-locks.ts";
import { memoryLocks } from "../../src/adapters/memory/locks.ts";
import { systemProcessTable } from "../../src/adapters/processes/system-process-table.ts";
import { aProcess } from "../support/builders.ts";
import { tempDir } from "../support/temp-dir.ts";
import { HOLD, lockProgram, untilHeld } from "../unit/adapters/locks/lock-program.ts";
import { locksContract } from "./locks.contract.ts";

locksContract("memory", async () => {
  const locks = memoryLocks();
  return {
    locks,
    async holdElsewhere(name) {
      const owner = { process: aProcess(), command: `ao test ${name}`, sinceMs: 1 };
      const { release } = locks.holdBy(name, owner);
      return { owner, release: async () => release() };
    },
  };
});

locksContract("file", async () => {
  const dir = tempDir("ao-locks");
  const processes = systemProcessTable();
  const self = { process: aProcess(), command: "ao" };
  return {
    locks: fileLocks({ dir, self, processes }),
    async holdElsewhere(name) {
      const startHolder = await lockProgram(HOLD);
      const holder = await untilHeld(startHolder(dir, name));
      const process = await processes.identify(holder.pid);
      if (process === undefined) throw new Error("the holder is gone");
      const owner = { process, command: `ao test ${name}`, sinceMs: expect.any(Number) };
      return { owner, release: holder.finish };
    },
  };
});
