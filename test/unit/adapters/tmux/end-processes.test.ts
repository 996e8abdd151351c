import { describe, expect, onTestFinished, test, vi } from "vitest";
import { memoryProcessTable } from "../../../../src/adapters/memory/process-table.ts";
import { endProcesses } from "../../../../src/adapters/tmux/end-processes.ts";
import type { ProcessTable } from "../../../../src/ports/process-table.ts";
import { launchId, sessionId } from "../../../support/builders.ts";

const marks = { sessionId: sessionId("app-1"), launchId: launchId("launch-1") };
const environment = { AO_SESSION_ID: "app-1", AO_LAUNCH_ID: "launch-1" };

describe("endProcesses", () => {
  test("the agent, its children and what carries its marks get TERM, and that is enough", async () => {
    const table = memoryProcessTable();
    const agent = table.add();
    const child = table.add({ parentPid: agent.pid });
    const marked = table.add({ environment });
    const strangers = [
      table.add({ environment: { AO_SESSION_ID: "app-1", AO_LAUNCH_ID: "launch-2" } }),
      table.add({ environment: { AO_SESSION_ID: "app-2", AO_LAUNCH_ID: "launch-1" } }),
      table.add({ environment: { AO_LAUNCH_ID: "launch-1" } }),
      table.add({ environment: { AO_SESSION_ID: "app-1" } }),
    ];
    expect(await endProcesses(table, { root: agent, ...marks })).toEqual([]);
    expect(table.sent.map(({ identity, signal }) => [identity.pid, signal])).toEqual(
      expect.arrayContaining([agent, child, marked].map(({ pid }) => [pid, "SIGTERM"])),
    );
    const signalled = new Set(table.sent.map(({ identity }) => identity.pid));
    expect(strangers.filter(({ pid }) => signalled.has(pid))).toEqual([]);
  });

  test("a pid that belongs to another process by now is never signalled", async () => {
    const table = memoryProcessTable();
    const agent = table.add();
    table.kill(agent.pid);
    table.add({ pid: agent.pid });
    expect(await endProcesses(table, { root: agent, ...marks })).toEqual([]);
    expect(table.sent).toEqual([]);
  });

  test("a listing that takes longer than the time to end is no reason to signal nothing", async () => {
    const table = memoryProcessTable();
    const agent = table.add();
    let nowMs = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
    onTestFinished(() => clock.mockRestore());
    const slow: ProcessTable = {
      ...table,
      family: (...asked) => {
        nowMs += 10_000;
        return table.family(...asked);
      },
    };
    expect(await endProcesses(slow, { root: agent, ...marks })).toEqual([]);
    expect(table.sent).toEqual([{ identity: agent, signal: "SIGTERM" }]);
  });

  test("what ignores TERM gets HUP as well, at once", async () => {
    const table = memoryProcessTable();
    const shell = table.add({ survives: ["SIGTERM"] });
    const agent = table.add({ environment });
    expect(await endProcesses(table, { root: shell, ...marks })).toEqual([]);
    expect(table.sent).toEqual([
      { identity: shell, signal: "SIGTERM" },
      { identity: agent, signal: "SIGTERM" },
      { identity: shell, signal: "SIGHUP" },
    ]);
  });

  test("what ignores both is killed within 5 s, each process once by each signal", async () => {
    const table = memoryProcessTable();
    const agent = table.add({ survives: ["SIGTERM", "SIGHUP"] });
    let nowMs = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => {
      nowMs += 100;
      return nowMs;
    });
    onTestFinished(() => clock.mockRestore());
    const sentAtMs: number[] = [];
    const watched: ProcessTable = {
      ...table,
      signal: (identity, signal) => {
        sentAtMs.push(nowMs);
        return table.signal(identity, signal);
      },
    };
    expect(await endProcesses(watched, { root: agent, ...marks })).toEqual([]);
    expect(table.sent.map(({ signal }) => signal)).toEqual(["SIGTERM", "SIGHUP", "SIGKILL"]);
    expect((sentAtMs.at(-1) ?? 0) - (sentAtMs[0] ?? 0)).toBeGreaterThanOrEqual(3000);
    expect((sentAtMs.at(-1) ?? 0) - (sentAtMs[0] ?? 0)).toBeLessThan(5000);
  });

  test("nothing is signalled when the system would not tell", async () => {
    const table = memoryProcessTable();
    const agent = table.add();
    table.failWith("no /proc");
    await expect(endProcesses(table, { root: agent, ...marks })).rejects.toMatchObject({
      code: "runtime_unavailable",
    });
    expect(table.sent).toEqual([]);
  });
});
