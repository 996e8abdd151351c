import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { MemoryRun } from "../../src/adapters/memory/memory-run.ts";
import { memoryRuntime } from "../../src/adapters/memory/runtime.ts";
import { systemProcessTable } from "../../src/adapters/processes/system-process-table.ts";
import type { RuntimeSpec } from "../../src/ports/runtime.ts";
import { tempDir } from "../support/temp-dir.ts";
import { tmuxRuntime } from "../support/tmux-runtime.ts";
import { aRuntimeSpec, pidsWith, tmuxServer } from "../support/tmux-server.ts";
import { type AgentPlan, type RuntimeWorld, runtimeContract } from "./runtime.contract.ts";

const processes = systemProcessTable();

function memoryWorld(): RuntimeWorld {
  const plans = new Map<string, AgentPlan>();
  const nowhere = "/nowhere";
  const behaviour = ({ launchId, workspacePath }: RuntimeSpec): MemoryRun => {
    const { says = [], exitsWith } = plans.get(launchId) ?? {};
    if (workspacePath === nowhere) return { kind: "no_workspace" };
    return exitsWith === undefined
      ? { kind: "stays", output: says }
      : { kind: "exits", exitStatus: exitsWith, output: says };
  };
  const runtime = memoryRuntime({ behaviour });
  return {
    runtime,
    nowhere,
    spec(plan, patch = {}) {
      const spec = aRuntimeSpec(patch);
      plans.set(spec.launchId, plan);
      return spec;
    },
    endAgent: ({ sessionId }, how) =>
      how === "killed" ? runtime.exitAgent(sessionId, null, "SIGKILL") : runtime.exitAgent(sessionId, 3),
    loseAll: () => runtime.sessions().forEach(runtime.loseRuntime),
    loseSight: () => runtime.loseSight(),
    remains: ({ sessionId }) => runtime.sessions().filter((id) => id === sessionId),
  };
}

function tmuxWorld(): RuntimeWorld {
  const server = tmuxServer();
  const signs = tempDir();
  const goSign = ({ launchId }: { readonly launchId: string }) => join(signs, launchId);
  return {
    runtime: tmuxRuntime({
      socketPath: server.socketPath,
      stateDir: tempDir("ao-state"),
      processes,
    }),
    nowhere: join(tempDir(), "nowhere"),
    spec({ says = [], exitsWith }, patch = {}) {
      const spec = aRuntimeSpec(patch);
      // What an agent says in its very last moment tmux may lose.
      const then =
        exitsWith === undefined
          ? 'until [ -e "$0" ]; do sleep 0.02; done; exit 3'
          : `sleep 0.3; exit ${exitsWith}`;
      const script = `printf '%s\\n' "$@"; ${then}`;
      return { ...spec, argv: ["/bin/sh", "-c", script, goSign(spec), ...says] };
    },
    endAgent(target, how) {
      if (how === "exits") writeFileSync(goSign(target), "");
      else if (target.process !== null) process.kill(target.process.pid, "SIGKILL");
    },
    loseAll: () => void server.tmux("kill-server"),
    loseSight() {
      endWithTest(server.tmux("display-message", "-p", "#{pid}"));
      rmSync(server.socketPath);
    },
    remains: ({ sessionId, launchId, launchDir }) => [
      ...(server.hasSession(sessionId) ? [`tmux session ${sessionId}`] : []),
      ...pidsWith(launchDir).map((pid) => `process ${pid} of ${launchId}`),
    ],
  };
}

/** Ends a server that cannot be ended over its socket, and the agents with it. */
function endWithTest(pid: string): void {
  const server = processes.identify(Number(pid));
  onTestFinished(async () => {
    const identity = await server;
    if (identity !== undefined) await processes.signal(identity, "SIGTERM");
  });
}

runtimeContract("memory", memoryWorld);
runtimeContract("tmux", tmuxWorld);

test("a terminal is attached by the words that a session shows to scripts", async () => {
  const { runtime, spec } = tmuxWorld();
  const { handle } = await runtime.create(spec({}));
  const { socketPath, id } = handle;
  expect(runtime.attachArgv(handle)).toEqual(["tmux", "-S", socketPath, "attach", "-t", id]);
});

test.each<[string, Readonly<Record<string, string>>, boolean]>([
  ["none", {}, true],
  ["C", { LANG: "C" }, true],
  ["POSIX over another", { LC_ALL: "POSIX", LANG: "de_DE.UTF-8" }, true],
  ["a language alone", { LANG: "en_US" }, true],
  ["UTF-8", { LANG: "en_US.UTF-8" }, false],
  ["UTF-8 spelt otherwise, for characters only", { LC_CTYPE: "C.utf8", LANG: "C" }, false],
  ["macOS's for characters", { LC_CTYPE: "UTF-8" }, false],
  ["UTF-8 behind an empty one", { LC_ALL: "", LANG: "C.UTF-8" }, false],
  ["another charset", { LC_ALL: "de_DE.ISO-8859-1" }, false],
])(
  "a terminal with locale %s is told to tmux as UTF-8 only where the locale leaves that open",
  async (_what, env, told) => {
    const { runtime, spec } = tmuxWorld();
    const { handle } = await runtime.create(spec({}));
    expect(runtime.attachArgv(handle, env).includes("-u")).toBe(told);
    expect(runtime.attachArgv(handle, env).slice(-2)).toEqual(["-t", handle.id]);
  },
);
