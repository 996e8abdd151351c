import { describe, expect, test } from "vitest";
import { attachCommand } from "../../../src/lifecycle/attach-command.ts";
import { captureOutput } from "../../../src/lifecycle/capture-output.ts";
import { aSession, sessionId } from "../../support/builders.ts";
import { aWorld, type WorldOptions } from "../../support/world.ts";

const ID = sessionId("app-1");
const TALKING: WorldOptions = { behaviour: () => ({ kind: "stays", output: ["one", "two", "three"] }) };

async function aLiveWorld(options: WorldOptions = {}) {
  const world = aWorld(options);
  await world.spawn();
  world.clearLog();
  return world;
}

describe("output", () => {
  test("is the last lines of the terminal, oldest first", async () => {
    const { deps } = await aLiveWorld(TALKING);
    expect(await captureOutput(deps, ID, 2)).toEqual(["two", "three"]);
  });

  test("of a dead agent can be read until its runtime is gone", async () => {
    const world = await aLiveWorld(TALKING);
    world.runtime.exitAgent(ID, 1);
    expect(await captureOutput(world.deps, ID, 10)).toEqual(["one", "two", "three"]);
    await world.kill(ID);
    await expect(captureOutput(world.deps, ID, 10)).rejects.toMatchObject({ code: "not_running" });
  });

  test("of a session that never had a terminal is refused", async () => {
    const { deps } = aWorld();
    deps.store.insert(aSession({ metadata: { runtime: null } }));
    await expect(captureOutput(deps, ID, 10)).rejects.toMatchObject({ code: "not_running" });
  });

  test("of an unknown session says so", async () => {
    await expect(captureOutput(aWorld().deps, ID, 1)).rejects.toMatchObject({ code: "session_not_found" });
  });
});

describe("attaching", () => {
  test("is the runtime's command, after a look, and writes nothing", async () => {
    const { deps, log } = await aLiveWorld();
    expect(await attachCommand(deps, ID)).toEqual({ kind: "attach", argv: ["memory", "attach", "$1"] });
    expect(log).toEqual(["runtime.look app-1"]);
  });

  test("inside of the same server switches the client", async () => {
    const { deps } = await aLiveWorld({ callerEnv: { PATH: "/bin", TMUX: "/memory/socket,1,0" } });
    expect(await attachCommand(deps, ID)).toEqual({ kind: "switch", argv: ["memory", "switch", "$1"] });
  });

  test("to a killed session is refused with the way back", async () => {
    const world = await aLiveWorld();
    await world.kill(ID);
    await expect(attachCommand(world.deps, ID)).rejects.toMatchObject({
      code: "not_running",
      hint: "ao restore app-1",
    });
  });

  test("to a session whose runtime was lost is refused with the way back", async () => {
    const world = await aLiveWorld();
    world.runtime.loseRuntime(ID);
    await expect(attachCommand(world.deps, ID)).rejects.toMatchObject({
      code: "not_running",
      hint: "ao restore app-1",
    });
    expect(world.row(ID).lifecycle.session.state).toBe("not_started");
  });

  test("is unknown when it could not look", async () => {
    const world = await aLiveWorld();
    world.runtime.failNext("look", new Error("tmux: timed out"));
    await expect(attachCommand(world.deps, ID)).rejects.toMatchObject({ code: "runtime_unavailable" });
  });
});
