import { describe, expect, test } from "vitest";
import { memoryClock } from "../../../../src/adapters/memory/clock.ts";
import { type MemoryProcess, memoryProcessTable } from "../../../../src/adapters/memory/process-table.ts";
import { parseLaunchId } from "../../../../src/domain/ids.ts";
import { endTools } from "../../../../src/lifecycle/cancel/end-tools.ts";
import { T0_MS } from "../../../support/builders.ts";

const LAUNCH = parseLaunchId("l-1") ?? expect.unreachable();
const MARK = { name: "CALL_ID", value: "call-1" };

function aTable() {
  const processes = memoryProcessTable();
  const deps = { processes, clock: memoryClock(T0_MS) };
  const add = (environment: Record<string, string>, over: MemoryProcess = {}) =>
    processes.add({ ...over, environment });
  const sent = () => processes.sent.map(({ identity, signal }) => [identity.pid, signal]);
  return { deps, add, sent };
}

describe("the tools that a stopped turn left", () => {
  test("are ended by the mark of their call, in their own launch alone", async () => {
    const { deps, add, sent } = aTable();
    const tool = add({ AO_LAUNCH_ID: "l-1", CALL_ID: "call-1" });
    add({ AO_LAUNCH_ID: "l-1", CALL_ID: "call-0" });
    add({ AO_LAUNCH_ID: "l-2", CALL_ID: "call-1" });
    add({ AO_LAUNCH_ID: "l-1" });
    await endTools(deps, LAUNCH, [MARK, { name: "CALL_ID", value: "call-2" }]);
    expect(sent()).toEqual([[tool.pid, "SIGTERM"]]);
  });

  test("get a KILL when a second of TERM did not end them", async () => {
    const { deps, add, sent } = aTable();
    const tool = add({ AO_LAUNCH_ID: "l-1", CALL_ID: "call-1" }, { survives: ["SIGTERM"] });
    await endTools(deps, LAUNCH, [MARK]);
    expect(sent()).toEqual([
      [tool.pid, "SIGTERM"],
      [tool.pid, "SIGKILL"],
    ]);
    expect(deps.clock.nowMs()).toBeGreaterThanOrEqual(T0_MS + 1_000);
  });

  test("are none without a mark, and no error where the system does not tell", async () => {
    const { deps, add, sent } = aTable();
    add({ AO_LAUNCH_ID: "l-1", CALL_ID: "call-1" });
    await endTools(deps, LAUNCH, []);
    deps.processes.failWith("no /proc");
    await endTools(deps, LAUNCH, [MARK]);
    expect(sent()).toEqual([]);
  });
});
