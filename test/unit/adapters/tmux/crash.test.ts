import { spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { systemProcessTable } from "../../../../src/adapters/processes/system-process-table.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { tmuxRuntime } from "../../../support/tmux-runtime.ts";
import { aRuntimeSpec, pidsWith, tmuxServer } from "../../../support/tmux-server.ts";

const SOURCE = `
  import { systemProcessTable } from "../../../../src/adapters/processes/system-process-table.ts";
  import { tmuxRuntime } from "../../../support/tmux-runtime.ts";
  const { options, spec } = JSON.parse(process.argv[2]);
  await tmuxRuntime({ ...options, processes: systemProcessTable() }).create(spec);
`;

/** Bundles a program that starts an agent; Node 20 runs no TypeScript. Returns its path. */
async function startingProgram(): Promise<string> {
  const folder = tempDir("ao-tmux-program");
  const outfile = join(folder, "program.mjs");
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  await build({
    stdin: { contents: SOURCE, resolveDir: import.meta.dirname, loader: "ts" },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["execa"],
    logLevel: "silent",
  });
  return outfile;
}

test("an agent whose starter was killed at any moment is found whole or not at all, and ended", async () => {
  const program = await startingProgram();
  const server = tmuxServer();
  const options = { socketPath: server.socketPath, stateDir: tempDir("ao-state") };
  const runtime = tmuxRuntime({ ...options, processes: systemProcessTable() });
  let found = 0;
  for (let round = 0; round < 8; round += 1) {
    const spec = aRuntimeSpec({ settleMs: 60_000 });
    const starter = spawn(process.execPath, [program, JSON.stringify({ options, spec })], {
      stdio: "ignore",
    });
    onTestFinished(() => void starter.kill("SIGKILL"));
    const isMade = async () => server.hasSession(spec.sessionId);
    const isWhole = async () => (await runtime.find(spec.sessionId, spec.launchId))?.process != null;
    // Later rounds are killed as early as the session is there, the first ones once its agent runs.
    await expect.poll(round < 2 ? isWhole : isMade, { timeout: 20_000, interval: 1 }).toBe(true);
    starter.kill("SIGKILL");
    await once(starter, "close");
    const half = await runtime.find(spec.sessionId, spec.launchId);
    expect(half).toMatchObject({ sessionId: spec.sessionId, launchId: spec.launchId });
    if (half?.process) found += 1;
    if (half !== undefined) await runtime.destroy(half);
    expect(await runtime.find(spec.sessionId, spec.launchId)).toBeUndefined();
    expect([server.hasSession(spec.sessionId), pidsWith(spec.launchDir)]).toEqual([false, []]);
  }
  expect(found).toBeGreaterThan(1);
}, 60_000);
