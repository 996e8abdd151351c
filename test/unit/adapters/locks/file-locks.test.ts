import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fileLocks } from "../../../../src/adapters/locks/file-locks.ts";
import { systemProcessTable } from "../../../../src/adapters/processes/system-process-table.ts";
import { aProcess } from "../../../support/builders.ts";
import { bystander, PREDECESSORS } from "../../../support/bystander.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { HOLD, lockProgram, untilHeld } from "./lock-program.ts";

const processes = systemProcessTable();
const self = { process: aProcess(), command: "ao" };

function open(dir = join(tempDir("ao-locks"), "locks")) {
  return { dir, locks: fileLocks({ dir, self, processes }) };
}

describe("a holder that is killed", () => {
  test("holds nothing any more: who comes next, or waits already, has it", async () => {
    const { dir, locks } = open();
    const start = await lockProgram(HOLD);
    for (const moment of ["before", "after"] as const) {
      const holder = await untilHeld(start(dir, "repo"));
      if (moment === "before") await holder.kill();
      const waiting = locks.withLock("repo", async () => "held", { waitMs: 20_000 });
      await holder.kill();
      expect(await waiting).toBe("held");
    }
  });

  test("leaves nothing beside its lock once that was swept; who holds one is not disturbed", async () => {
    const { dir, locks } = open();
    const start = await lockProgram(HOLD);
    await (await untilHeld(start(dir, "dead"))).kill();
    const lives = await untilHeld(start(dir, "alive"));
    const before = readdirSync(dir).filter((name) => /-journal$|\.holder$/.test(name));
    await locks.sweep();
    const after = readdirSync(dir).filter((name) => /-journal$|\.holder$/.test(name));
    expect([before.length, after.length]).toEqual([4, 2]);
    await expect(locks.withLock("alive", async () => 1, { waitMs: 0 })).rejects.toMatchObject({
      details: { holder: { process: { pid: lives.pid } } },
    });
    expect(await locks.withLock("dead", async () => "free", { waitMs: 0 })).toBe("free");
  });

  test("is not named as the holder to those who wait for the next one", async () => {
    const { dir, locks } = open();
    const start = await lockProgram(HOLD);
    await (await untilHeld(start(dir, "repo"))).kill();
    const next = await untilHeld(start(dir, "repo"));
    await expect(locks.withLock("repo", async () => 1, { waitMs: 0 })).rejects.toMatchObject({
      details: { holder: { process: { pid: next.pid } } },
    });
    const [holderFile = ""] = readdirSync(dir).filter((name) => name.endsWith(".holder"));
    writeFileSync(join(dir, holderFile), JSON.stringify({ ...self, sinceMs: 1 }));
    await expect(locks.withLock("repo", async () => 1, { waitMs: 0 })).rejects.toMatchObject({
      details: { holder: null },
    });
  });
});

describe.each(PREDECESSORS)(
  "a holder %s that was killed, and whose pid an unrelated process has now",
  (which) => {
    test("holds nothing, is not named to those who wait for the next one, and nobody is signalled", async () => {
      const other = await bystander();
      const { dir, locks } = open();
      const start = await lockProgram(HOLD);
      const dead = { process: other.predecessors[which], command: "ao kill app-1", sinceMs: 1 };
      await (await untilHeld(start(dir, "repo"))).kill();
      const [holderFile = ""] = readdirSync(dir).filter((name) => name.endsWith(".holder"));
      writeFileSync(join(dir, holderFile), JSON.stringify(dead));
      await expect(locks.withLock("repo", async () => "mine", { waitMs: 0 })).resolves.toBe("mine");
      await untilHeld(start(dir, "repo"));
      writeFileSync(join(dir, holderFile), JSON.stringify(dead));
      await expect(locks.withLock("repo", async () => 1, { waitMs: 0 })).rejects.toMatchObject({
        details: { holder: null },
      });
      other.expectUnharmed();
    });
  },
);

test("children of the holder do not hold it when it is killed", async () => {
  const { dir, locks } = open();
  const start = await lockProgram(`
    import { spawn } from "node:child_process";
    await locks.withLock(name, async () => {
      const child = spawn("sleep", ["60"], { stdio: "ignore", detached: true });
      say(String(child.pid)); say("held");
      await inputEnd;
    }, { waitMs: 0 });
  `);
  const holder = await untilHeld(start(dir, "repo"));
  await holder.kill();
  await expect(locks.withLock("repo", async () => "mine", { waitMs: 0 })).resolves.toBe("mine");
  process.kill(Number(holder.lines()[0]), "SIGKILL");
});

test("ten processes that count together lose no count", async () => {
  const { dir } = open();
  const start = await lockProgram(`
    import { existsSync, readFileSync, writeFileSync } from "node:fs";
    const count = async () => {
      const before = existsSync(argument) ? Number(readFileSync(argument, "utf8")) : 0;
      await new Promise((done) => setTimeout(done, 1));
      writeFileSync(argument, String(before + 1));
    };
    for (let at = 0; at < 20; at += 1) await locks.withLock(name, count, { waitMs: 30_000 });
    say("done " + readFileSync(argument, "utf8"));
    process.exit(0);
  `);
  const file = join(tempDir("ao-count"), "count");
  const all = Array.from({ length: 10 }, () => start(dir, "repo", file));
  await expect.poll(() => all.flatMap((one) => one.lines()).length, { timeout: 40_000 }).toBe(10);
  expect(all.flatMap((one) => one.lines())).toContain("done 200");
}, 50_000);

describe("the files", () => {
  test("are for their owner alone, stay empty, and only they are left", async () => {
    const { dir, locks } = open();
    await locks.withLock("one", async () => 1, { waitMs: 0 });
    await locks.withLock("two", async () => 1, { waitMs: 0 });
    const files = readdirSync(dir).map((name) => statSync(join(dir, name)));
    expect(files.map(({ mode, size }) => [mode & 0o777, size])).toEqual([
      [0o600, 0],
      [0o600, 0],
    ]);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  test("a holder that is killed at any moment leaves nothing that the next one does not take away", async () => {
    const { dir, locks } = open();
    const start = await lockProgram(`
      for (;;) {
        await locks.withLock(name, async () => {}, { waitMs: 10_000 });
        say("again");
      }
    `);
    for (let times = 0; times < 5; times += 1) {
      const holder = start(dir, "repo");
      await expect.poll(() => holder.lines(), { timeout: 10_000 }).toContain("again");
      await holder.kill();
      expect(readdirSync(dir).filter((name) => !/^[0-9a-f]{32}(\.holder|-journal)?$/.test(name))).toEqual([]);
    }
    await locks.withLock("repo", async () => 1, { waitMs: 5000 });
    expect(readdirSync(dir)).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
  });

  test("a folder that cannot be made is a clear error, and the work is not begun", async () => {
    const file = join(tempDir("ao-locks"), "file");
    writeFileSync(file, "");
    const { locks } = open(join(file, "locks"));
    await expect(locks.withLock("a", async () => 1, { waitMs: 0 })).rejects.toMatchObject({
      code: "data_dir_unusable",
    });
  });

  test("a file that somebody wrote to is a clear error", async () => {
    const { dir, locks } = open();
    await locks.withLock("a", async () => 1, { waitMs: 0 });
    const [name = ""] = readdirSync(dir);
    writeFileSync(join(dir, name), "not a lock ".repeat(1000));
    await expect(locks.withLock("a", async () => 1, { waitMs: 0 })).rejects.toMatchObject({
      code: "data_dir_unusable",
    });
  });

  test("a holder that has no room to say so holds it all the same", async () => {
    const { dir, locks } = open();
    await locks.withLock("a", async () => 1, { waitMs: 0 });
    const [name = ""] = readdirSync(dir);
    mkdirSync(join(dir, `${name}.holder`));
    writeFileSync(join(dir, `${name}.holder`, "x"), "");
    chmodSync(dir, 0o700);
    const again = () => locks.withLock("a", async () => 1, { waitMs: 0 });
    await expect(locks.withLock("a", again, { waitMs: 0 })).rejects.toMatchObject({
      code: "operation_in_progress",
      details: { holder: null },
    });
  });
});
