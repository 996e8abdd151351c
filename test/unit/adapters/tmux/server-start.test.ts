import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { systemProcessTable } from "../../../../src/adapters/processes/system-process-table.ts";
import type { RuntimeSpec, RuntimeTarget, StartedRuntime } from "../../../../src/ports/runtime.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { tmuxRuntime } from "../../../support/tmux-runtime.ts";
import { aRuntimeSpec, tmuxServer } from "../../../support/tmux-server.ts";

const processes = systemProcessTable();

function aRuntime() {
  const server = tmuxServer();
  const folder = dirname(server.socketPath);
  const open = () => tmuxRuntime({ socketPath: server.socketPath, stateDir, processes });
  const stateDir = tempDir("ao-state");
  return { server, folder, runtime: open(), open };
}

const targetOf = ({ sessionId, launchId }: RuntimeSpec, started: StartedRuntime): RuntimeTarget => ({
  sessionId,
  launchId,
  ...started,
});

test("the folder of a socket goes with the last session of its server, and comes back with the next one", async () => {
  const { folder, runtime } = aRuntime();
  for (let times = 0; times < 2; times++) {
    const [one, other] = [aRuntimeSpec(), aRuntimeSpec()];
    const targets = [targetOf(one, await runtime.create(one)), targetOf(other, await runtime.create(other))];
    for (const [index, target] of targets.entries()) {
      expect(readdirSync(folder).sort()).toEqual(["tmux", "tmux.conf"]);
      await runtime.destroy(target);
      expect(existsSync(folder)).toBe(index === 0);
    }
  }
});

test("it stays while a session of a person is on the server, and when a person put something there", async () => {
  const { server, folder, runtime } = aRuntime();
  const spec = aRuntimeSpec();
  const target = targetOf(spec, await runtime.create(spec));
  server.tmux("new-session", "-d", "-s", "mine", "sleep 60");
  writeFileSync(join(folder, "notes.txt"), "mine\n");
  await runtime.destroy(target);
  expect(server.hasSession("mine")).toBe(true);
  server.tmux("kill-server");
  await runtime.destroy(target);
  expect(readdirSync(folder)).toContain("notes.txt");
});

test("it goes when the session of a server that was killed is ended, with the socket that was left", async () => {
  const { server, folder, runtime } = aRuntime();
  const spec = aRuntimeSpec();
  const started = await runtime.create(spec);
  process.kill(started.handle.server.pid, "SIGKILL");
  await expect.poll(() => processes.look([started.handle.server])).toEqual([{ kind: "dead" }]);
  expect(existsSync(server.socketPath)).toBe(true);
  await runtime.destroy(targetOf(spec, started));
  expect(existsSync(folder)).toBe(false);
});

test("it goes after a start that failed", async () => {
  const { folder, runtime } = aRuntime();
  await expect(runtime.create(aRuntimeSpec({ argv: ["/bin/false"], settleMs: 300 }))).rejects.toMatchObject({
    code: "agent_start_failed",
  });
  expect(existsSync(folder)).toBe(false);
});

test("sessions that begin while others end at the same socket all run, on a server with our configuration", async () => {
  const { server, open } = aRuntime();
  const cycle = async () => {
    const runtime = open();
    for (let times = 0; times < 6; times++) {
      const spec = aRuntimeSpec();
      const started = await runtime.create(spec);
      expect(server.tmux("show-options", "-gv", "-w", "remain-on-exit")).toBe("on");
      await runtime.destroy(targetOf(spec, started));
    }
  };
  await Promise.all([cycle(), cycle(), cycle()]);
  expect(existsSync(dirname(server.socketPath))).toBe(false);
});
