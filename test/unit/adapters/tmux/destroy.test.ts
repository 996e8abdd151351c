import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemProcessTable } from "../../../../src/adapters/processes/system-process-table.ts";
import type { TmuxProgram } from "../../../../src/adapters/tmux/run-tmux.ts";
import type { ProcessTable } from "../../../../src/ports/process-table.ts";
import type { RuntimeSpec, RuntimeTarget } from "../../../../src/ports/runtime.ts";
import { sessionId } from "../../../support/builders.ts";
import { stubbornAgent } from "../../../support/stub-agents.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { tmuxRuntime } from "../../../support/tmux-runtime.ts";
import { aRuntimeSpec, fakeTmux, isRunning, pidsWith, tmuxServer } from "../../../support/tmux-server.ts";

const processes = systemProcessTable();

function open(table: ProcessTable = processes) {
  const server = tmuxServer();
  const options = { socketPath: server.socketPath, stateDir: tempDir("ao-state") };
  const runtime = tmuxRuntime({ ...options, processes: table });
  const start = async (patch: Partial<RuntimeSpec> = {}): Promise<RuntimeTarget> => {
    const spec = aRuntimeSpec(patch);
    return { ...spec, ...(await runtime.create(spec)) };
  };
  return { server, runtime, start };
}

/** Beside it, every signal that is sent. */
function recording() {
  const signals: string[] = [];
  const watched: ProcessTable = {
    ...processes,
    signal: (identity, signal) => {
      signals.push(signal);
      return processes.signal(identity, signal);
    },
  };
  return { ...open(watched), signals };
}

let markers = 0;

/** A text for command lines that no other test uses. */
function aMarker(): string {
  markers += 1;
  const marker = `marker-${process.pid}-${markers}`;
  onTestFinished(() => {
    for (const pid of pidsWith(marker)) if (isRunning(pid)) process.kill(pid, "SIGKILL");
  });
  return marker;
}

describe("destroy", () => {
  test("ends children in sessions of their own, under nohup, and deaf to HUP and TERM", async () => {
    const { server, runtime, start } = open();
    const marker = aMarker();
    const target = await start({ argv: stubbornAgent(marker) });
    await expect.poll(() => pidsWith(marker).length).toBeGreaterThanOrEqual(4);
    await runtime.destroy(target);
    expect(pidsWith(marker)).toEqual([]);
    expect(server.hasSession(target.sessionId)).toBe(false);
  });

  test.each(["bash --norc", "sh"])(
    "ends an interactive %s, which ignores TERM, without a KILL to wait for",
    async (shell) => {
      const { runtime, start, signals } = recording();
      const target = await start({ argv: ["/bin/sh", "-c", `exec ${shell} -i`] });
      await expect
        .poll(async () => (await runtime.capture(target, 5)).join(""), { timeout: 5000 })
        .toMatch(/[$#]$/);
      await runtime.destroy(target);
      expect(signals).toEqual(["SIGTERM", "SIGHUP"]);
    },
  );

  test("lets an agent end by itself, and kills nothing then", async () => {
    const { runtime, start, signals } = recording();
    const done = join(tempDir(), "done");
    const script = `trap 'sleep 0.3; : > "$0"; exit 0' TERM; : > "$0.ready"; while :; do sleep 0.05; done`;
    const target = await start({ argv: ["/bin/sh", "-c", script, done] });
    await expect.poll(() => existsSync(`${done}.ready`)).toBe(true);
    await runtime.destroy(target);
    expect(existsSync(done)).toBe(true);
    expect(signals).not.toContain("SIGKILL");
  });

  test("ends what an agent left behind that has exited long ago", async () => {
    const { runtime, start } = open();
    const marker = aMarker();
    const script = `nohup setsid /bin/sh -c 'while :; do sleep 0.2; done' ${marker} >/dev/null 2>&1 & sleep 0.2`;
    const target = await start({ argv: ["/bin/sh", "-c", script] });
    await expect.poll(() => isRunning(target.process?.pid ?? 0)).toBe(false);
    expect(pidsWith(marker)).toHaveLength(1);
    await runtime.destroy(target);
    expect(pidsWith(marker)).toEqual([]);
  });

  test("ends what outlived a server that was killed", async () => {
    const { server, runtime, start } = open();
    const marker = aMarker();
    const target = await start({ argv: stubbornAgent(marker) });
    await expect.poll(() => pidsWith(marker).length).toBeGreaterThanOrEqual(4);
    server.tmux("kill-server");
    await runtime.destroy(target);
    expect(pidsWith(marker)).toEqual([]);
  });

  test("ends windows that a person opened in the session", async () => {
    const { server, runtime, start } = open();
    const target = await start();
    const marker = aMarker();
    server.tmux(
      "new-window",
      "-d",
      "-t",
      `${target.handle.id}:`,
      `trap '' HUP; sh -c 'sleep 60; :' ${marker}; :`,
    );
    await expect.poll(() => pidsWith(marker).length).toBeGreaterThanOrEqual(1);
    await runtime.destroy(target);
    expect(pidsWith(marker)).toEqual([]);
  });

  test.each([
    ["with its process known", (target: RuntimeTarget) => target],
    ["with its process unknown", (target: RuntimeTarget) => ({ ...target, process: null })],
  ])("ends the session of an agent whose own pane a person closed, %s", async (_what, recorded) => {
    const { server, runtime, start } = open();
    const [target, other] = [await start(), await start()];
    const marker = aMarker();
    server.tmux("new-window", "-d", "-t", `${target.handle.id}:`, `sh -c 'sleep 60; :' ${marker}; :`);
    await expect.poll(() => pidsWith(marker).length).toBeGreaterThanOrEqual(1);
    server.tmux("kill-pane", "-t", target.handle.paneId);
    await runtime.destroy(recorded(target));
    expect(server.hasSession(target.sessionId)).toBe(false);
    expect(pidsWith(marker)).toEqual([]);
    expect(isRunning(other.process?.pid ?? 0)).toBe(true);
    const again = await start({ sessionId: target.sessionId });
    expect(isRunning(again.process?.pid ?? 0)).toBe(true);
  });

  test.each([
    ["in copy mode", ["copy-mode"]],
    ["closed to input", ["select-pane", "-d"]],
    ["showing a clock", ["clock-mode"]],
  ])("ends an agent whose terminal is %s", async (_what, [command = "", ...args]) => {
    const { server, runtime, start } = open();
    const target = await start();
    server.tmux(command, ...args, "-t", target.handle.paneId);
    await runtime.destroy(target);
    expect(isRunning(target.process?.pid ?? 0)).toBe(false);
  });

  test("leaves neighbours alone whose names only begin alike", async () => {
    const { server, runtime, start } = open();
    const [one, ten] = [
      await start({ sessionId: sessionId("app-1") }),
      await start({ sessionId: sessionId("app-10") }),
    ];
    await runtime.destroy(one);
    await runtime.destroy(one);
    expect([server.hasSession("app-1"), server.hasSession("app-10")]).toEqual([false, true]);
    expect(isRunning(ten.process?.pid ?? 0)).toBe(true);
  });

  test("never signals a process that only has the recorded pid", async () => {
    const { runtime, start } = open();
    const innocent = spawn("/bin/sleep", ["60"], { stdio: "ignore" });
    onTestFinished(() => void innocent.kill("SIGKILL"));
    const target = await start();
    const recorded = { ...(target.process ?? { startTime: "", bootId: "" }), pid: innocent.pid ?? 0 };
    await runtime.destroy({ ...target, process: recorded });
    expect(isRunning(recorded.pid)).toBe(true);
    expect(isRunning(target.process?.pid ?? 0)).toBe(false);
  });

  describe("with marks of another session on record", () => {
    test.each<[string, (own: RuntimeTarget, other: RuntimeTarget) => Partial<RuntimeTarget>]>([
      ["its launch", (_own, { launchId }) => ({ launchId })],
      ["its launch, and no process", (_own, { launchId }) => ({ launchId, process: null })],
      ["its launch and terminal", (_own, { launchId, handle }) => ({ launchId, handle, process: null })],
      [
        "its launch, terminal and process",
        (_own, { launchId, handle, process }) => ({ launchId, handle, process }),
      ],
      ["its terminal", (_own, { handle }) => ({ handle })],
      ["its process", (_own, { process }) => ({ process })],
    ])("%s, that one lives on with all it has", async (_what, tampered) => {
      const { server, runtime, start } = open();
      const marker = aMarker();
      const script = `setsid /bin/sh -c 'while :; do sleep 0.2; done' ${marker} & exec sleep 60`;
      const [own, other] = [await start(), await start({ argv: ["/bin/sh", "-c", script] })];
      await expect.poll(() => pidsWith(marker).length).toBe(1);
      await runtime.destroy({ ...own, ...tampered(own, other) }).catch(() => undefined);
      expect((await runtime.look([other])).get(other.sessionId)).toMatchObject({
        runtime: { kind: "alive" },
        process: { kind: "alive" },
      });
      expect(server.hasSession(other.sessionId)).toBe(true);
      expect(pidsWith(marker)).toHaveLength(1);
    });

    test("a recorded agent without the marks is named and left alone", async () => {
      const { runtime, start } = open();
      const [own, other] = [await start(), await start()];
      const left = runtime.destroy({ ...own, process: other.process });
      await expect(left).rejects.toMatchObject({
        code: "teardown_incomplete",
        details: {
          left: [
            { what: "process", where: `${other.process?.pid}`, why: expect.stringContaining("left alone") },
          ],
        },
      });
      expect(isRunning(own.process?.pid ?? 0)).toBe(false);
    });
  });

  test("ends an agent that emptied its environment, by the terminal it runs in", async () => {
    const { runtime, start } = open();
    const target = await start({
      argv: ["/usr/bin/env", "-i", "/bin/sh", "-c", "trap '' HUP; sleep 60 & wait"],
    });
    const environment = () => readFileSync(`/proc/${target.process?.pid}/environ`, "utf8");
    await expect.poll(environment).not.toContain("AO_LAUNCH_ID");
    await runtime.destroy(target);
    expect(isRunning(target.process?.pid ?? 0)).toBe(false);
  });

  test("works from inside the session of another agent", async () => {
    const { runtime, start } = open();
    const [target, caller] = [await start(), await start()];
    await runtime.destroy({ ...target, process: null });
    expect(isRunning(target.process?.pid ?? 0)).toBe(false);
    expect(isRunning(caller.process?.pid ?? 0)).toBe(true);
  });

  test.each<[string, TmuxProgram | string]>([
    ["is missing", { env: { PATH: "/nonexistent" } }],
    ["hangs", "exec sleep 60"],
    ["fails", "echo 'EAGAIN' >&2; exit 1"],
    ["talks nonsense", "echo hello"],
  ])("touches nothing when tmux %s", async (_what, fault) => {
    const { start } = open();
    const target = await start();
    const program = typeof fault === "string" ? { tmuxPath: fakeTmux(fault), timeoutMs: 300 } : fault;
    const blind = tmuxRuntime({
      socketPath: "/nonexistent/tmux",
      stateDir: tempDir("ao-state"),
      processes,
      ...program,
    });
    await expect(blind.destroy(target)).rejects.toMatchObject({ code: "runtime_unavailable" });
    expect(isRunning(target.process?.pid ?? 0)).toBe(true);
  });

  test.each([
    ["does not go", 'case "$*" in *kill-session*) exit 0;; esac; exec "$real" "$@"', /has not gone/],
    [
      "cannot be looked at any more",
      'if [ -e "$0.end" ]; then exit 1; fi; case "$*" in *kill-session*) : > "$0.end";; esac; exec "$real" "$@"',
      /could not look/,
    ],
    [
      "went out of reach with its server",
      'case "$*" in *kill-session*) rm -f "$3"; exit 0;; esac; exec "$real" "$@"',
      /does not listen/,
    ],
  ])("names what is left when the session %s", async (_what, script, why) => {
    const { server, start } = open();
    const target = await start();
    onTestFinished(() => processes.signal(target.handle.server, "SIGTERM"));
    const tmuxPath = fakeTmux(script);
    const lame = tmuxRuntime({
      socketPath: server.socketPath,
      stateDir: tempDir("ao-state"),
      processes,
      tmuxPath,
    });
    await expect(lame.destroy(target)).rejects.toMatchObject({
      code: "teardown_incomplete",
      message: expect.stringContaining(target.sessionId),
      details: {
        left: [
          {
            what: "tmux session",
            where: `${target.handle.id} on ${server.socketPath}`,
            why: expect.stringMatching(why),
          },
        ],
      },
    });
  });
});
