import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemProcessTable } from "../../../../src/adapters/processes/system-process-table.ts";
import type { TmuxProgram } from "../../../../src/adapters/tmux/run-tmux.ts";
import type { RuntimeObservation } from "../../../../src/domain/facts.ts";
import type { ProcessTable } from "../../../../src/ports/process-table.ts";
import type { RuntimeSpec, RuntimeTarget } from "../../../../src/ports/runtime.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { tmuxRuntime } from "../../../support/tmux-runtime.ts";
import { aRuntimeSpec, fakeTmux, isRunning, tmuxServer } from "../../../support/tmux-server.ts";

const processes = systemProcessTable();
const GONE: RuntimeObservation = { runtime: { kind: "missing" }, process: { kind: "dead" } };

function open() {
  const server = tmuxServer();
  const stateDir = tempDir("ao-state");
  const runtime = tmuxRuntime({ socketPath: server.socketPath, stateDir, processes });
  const start = async (patch: Partial<RuntimeSpec> = {}): Promise<RuntimeTarget> => {
    const spec = aRuntimeSpec(patch);
    const target = { ...spec, ...(await runtime.create(spec)) };
    // A server whose socket is gone cannot be ended over it.
    onTestFinished(() => {
      for (const pid of [target.process.pid, target.handle.server.pid])
        if (isRunning(pid)) process.kill(pid, 9);
    });
    return target;
  };
  return { server, runtime, start, stateDir };
}

/** One look by an `ao` of its own, which knows no socket but the one in the handle. */
async function lookAt(
  target: RuntimeTarget,
  program: TmuxProgram = {},
): Promise<RuntimeObservation | undefined> {
  const runtime = tmuxRuntime({
    socketPath: "/nonexistent/tmux",
    stateDir: tempDir("ao-state"),
    processes,
    ...program,
  });
  return (await runtime.look([target])).get(target.sessionId);
}

describe("a live agent is seen alive", () => {
  test("with the time of its last output", async () => {
    const { start } = open();
    const startedMs = Date.now();
    const seen = await lookAt(await start({ argv: ["/bin/sh", "-c", "echo hello; exec sleep 60"] }));
    const lastOutputAtMs = seen?.runtime.kind === "alive" ? (seen.runtime.lastOutputAtMs ?? 0) : 0;
    expect(lastOutputAtMs).toBeGreaterThan(startedMs - 2000);
    expect(lastOutputAtMs).toBeLessThanOrEqual(Date.now());
  });

  test.each<[string, Readonly<Record<string, string>>]>([
    ["inside another tmux", { TMUX: "/other/socket,1,0", TMUX_PANE: "%9" }],
    ["with another folder for sockets", { TMUX_TMPDIR: "/nonexistent" }],
    ["without a locale or a terminal", { LANG: "", LC_ALL: "C", TERM: "" }],
  ])("from a shell %s", async (_what, patch) => {
    const { start } = open();
    const env = { PATH: process.env["PATH"], ...patch };
    expect((await lookAt(await start(), { env }))?.runtime.kind).toBe("alive");
  });

  test("after a person renamed its session", async () => {
    const { server, start } = open();
    const target = await start();
    server.tmux("rename-session", "-t", target.handle.id, "mine");
    expect((await lookAt(target))?.runtime.kind).toBe("alive");
  });
});

describe.each([
  ["the socket", (path: string) => rmSync(path)],
  ["the socket's folder", (path: string) => rmSync(dirname(path), { recursive: true })],
])("after a cleaner removed %s", (_what, remove) => {
  async function openCleaned() {
    const opened = open();
    const targets = [await opened.start(), await opened.start()];
    remove(opened.server.socketPath);
    return { ...opened, targets };
  }

  test("a look makes no folder, sends no signal, and says how it is mended", async () => {
    const { server, targets } = await openCleaned();
    const signals: unknown[] = [];
    const signal: ProcessTable["signal"] = async (...sent) => void signals.push(sent);
    const runtime = tmuxRuntime({
      socketPath: server.socketPath,
      stateDir: tempDir("ao-state"),
      processes: { ...processes, signal },
    });
    const before = existsSync(dirname(server.socketPath));
    for (const seen of (await runtime.look(targets)).values()) {
      expect(seen).toEqual({
        runtime: { kind: "probe_failed", cause: expect.stringContaining("ao reconcile") },
        process: { kind: "alive" },
      });
    }
    await expect(runtime.capture(oneOf(targets), 1)).rejects.toMatchObject({ code: "runtime_unavailable" });
    expect(signals).toEqual([]);
    expect([existsSync(dirname(server.socketPath)), existsSync(server.socketPath)]).toEqual([before, false]);
  });

  test("the server opens it again when it is told to, and all are seen alive", async () => {
    const { server, runtime, targets } = await openCleaned();
    await runtime.reopen();
    for (const target of targets) expect((await lookAt(target))?.runtime.kind).toBe("alive");
    expect(existsSync(server.socketPath)).toBe(true);
  });

  test("to end one agent brings the others back into sight", async () => {
    const { server, targets } = await openCleaned();
    const [doomed, other] = [oneOf(targets), oneOf(targets.slice(1))];
    const fresh = tmuxRuntime({ socketPath: "/nonexistent/tmux", stateDir: tempDir("ao-state"), processes });
    await fresh.destroy(doomed);
    expect(await lookAt(doomed)).toEqual(GONE);
    expect((await lookAt(other))?.runtime.kind).toBe("alive");
    expect(server.hasSession(other.sessionId)).toBe(true);
  });
});

describe("an agent whose own pane a person closed, in a session that lives on", () => {
  test("has exited when its process is dead", async () => {
    const { server, start } = open();
    const target = await start();
    server.tmux("new-window", "-d", "-t", `${target.handle.id}:`, "sleep 60");
    server.tmux("kill-pane", "-t", target.handle.paneId);
    await expect
      .poll(() => lookAt(target))
      .toEqual({ runtime: { kind: "exited", exitStatus: null, signal: null }, process: { kind: "dead" } });
  });

  test("is seen alive without its terminal when the pane was only moved away", async () => {
    const { server, runtime, start } = open();
    const target = await start();
    server.tmux("new-window", "-d", "-t", `${target.handle.id}:`, "sleep 60");
    server.tmux("new-session", "-d", "-s", "mine", "sleep 60");
    server.tmux("move-pane", "-d", "-s", target.handle.paneId, "-t", "=mine:");
    expect(await lookAt(target)).toEqual({ runtime: { kind: "missing" }, process: { kind: "alive" } });
    await expect(runtime.capture(target, 1)).rejects.toMatchObject({ code: "not_running" });
  });
});

describe("a look that failed is no death", () => {
  test.each<[string, TmuxProgram | string]>([
    ["tmux is not in a cron job's PATH", { env: { PATH: "/nonexistent", HOME: "/" } }],
    ["tmux hangs", "exec sleep 60"],
    ["tmux fails for want of memory", "echo 'fork failed: Resource temporarily unavailable' >&2; exit 1"],
    ["the socket may not be opened", "echo 'error connecting to /s (Permission denied)' >&2; exit 1"],
    ["tmux prints nothing", "exit 0"],
    ["tmux prints half an answer", '"$real" "$@" | head -c 20'],
    ["tmux prints something else", "echo hello"],
    ["tmux says that there is no server while it lives", "echo 'no server running on /s' >&2; exit 1"],
  ])("when %s", async (_what, fault) => {
    const { start } = open();
    const target = await start();
    const program = typeof fault === "string" ? { tmuxPath: fakeTmux(fault), timeoutMs: 300 } : fault;
    expect(await lookAt(target, program)).toMatchObject({
      runtime: { kind: "probe_failed" },
      process: { kind: "alive" },
    });
  });

  test("when the server is stopped", async () => {
    const { start } = open();
    const target = await start();
    process.kill(target.handle.server.pid, "SIGSTOP");
    onTestFinished(() => void process.kill(target.handle.server.pid, "SIGCONT"));
    expect(await lookAt(target, { timeoutMs: 300 })).toMatchObject({ runtime: { kind: "probe_failed" } });
  });

  test("when every third call fails, each look is either right or no answer", async () => {
    const { start } = open();
    const targets = [await start(), await start()];
    const count = join(tempDir(), "count");
    const script = `echo >> '${count}'; [ $(($(wc -l < '${count}') % 3)) = 0 ] && { echo 'EAGAIN' >&2; exit 1; }; exec "$real" "$@"`;
    const runtime = tmuxRuntime({
      socketPath: "/nonexistent/tmux",
      stateDir: tempDir("ao-state"),
      processes,
      tmuxPath: fakeTmux(script),
    });
    const kinds: (string | undefined)[] = [];
    for (let round = 0; round < 9; round++) {
      const seen = await runtime.look(targets);
      kinds.push(...targets.map(({ sessionId }) => seen.get(sessionId)?.runtime.kind));
    }
    expect(new Set(kinds)).toEqual(new Set(["alive", "probe_failed"]));
  });

  test("of one server, while the sessions of another are seen", async () => {
    const [one, other] = [open(), open()];
    const [broken, fine] = [await one.start(), await other.start()];
    const script = `case "$*" in *${one.server.socketPath}*) exit 1;; esac; exec "$real" "$@"`;
    const runtime = tmuxRuntime({
      socketPath: "/nonexistent/tmux",
      stateDir: tempDir("ao-state"),
      processes,
      tmuxPath: fakeTmux(script),
    });
    const seen = await runtime.look([broken, fine]);
    expect(seen.get(broken.sessionId)?.runtime.kind).toBe("probe_failed");
    expect(seen.get(fine.sessionId)?.runtime.kind).toBe("alive");
  });
});

describe("a runtime is missing", () => {
  test("when its server was killed, with its agents dead", async () => {
    const { start } = open();
    const targets = [await start(), await start()];
    process.kill(targets[0]?.handle.server.pid ?? 0, "SIGKILL");
    for (const target of targets) await expect.poll(() => lookAt(target)).toEqual(GONE);
  });

  test("when its server was killed, while an agent that ignores HUP is still seen alive", async () => {
    const { server, start } = open();
    const target = await start({ argv: ["/bin/sh", "-c", "trap '' HUP; while :; do sleep 0.1; done"] });
    await expect.poll(() => ignoresHup(target.process?.pid ?? 0)).toBe(true);
    server.tmux("kill-server");
    await expect.poll(() => lookAt(target)).toEqual({ ...GONE, process: { kind: "alive" } });
  });

  test("when a new server gives its ids to others", async () => {
    const { server, runtime, start } = open();
    const old = await start();
    server.tmux("kill-server");
    await expect.poll(() => processes.look([old.handle.server])).toEqual([{ kind: "dead" }]);
    const young = await start();
    expect([young.handle.id, young.handle.paneId]).toEqual([old.handle.id, old.handle.paneId]);
    expect(await lookAt(old)).toEqual(GONE);
    await runtime.destroy(old);
    expect((await lookAt(young))?.runtime.kind).toBe("alive");
  });

  test("when the machine was started again since, with no tmux to ask", async () => {
    const { start } = open();
    const target = await start();
    const before = { bootId: "00000000-0000-0000-0000-000000000000" };
    const old: RuntimeTarget = {
      ...target,
      handle: { ...target.handle, server: { ...target.handle.server, ...before } },
      process: { pid: target.process?.pid ?? 0, startTime: target.process?.startTime ?? "", ...before },
    };
    const gone = { runtime: { kind: "missing" }, process: { kind: "dead", ofAnotherBoot: true } };
    const noTmux = { env: { PATH: "/nonexistent" } };
    expect(await lookAt(old, noTmux)).toEqual(gone);
    expect(await lookAt({ ...old, process: null }, noTmux)).toEqual(gone);
  });

  test("when a person killed its session", async () => {
    const { server, start } = open();
    const [target, other] = [await start(), await start()];
    server.tmux("kill-session", "-t", target.handle.id);
    await expect.poll(() => lookAt(target)).toEqual(GONE);
    expect((await lookAt(other))?.runtime.kind).toBe("alive");
  });
});

test("an agent that was killed leaves its signal, also when its child keeps the terminal for a while", async () => {
  const { start } = open();
  const target = await start({ argv: ["/bin/sh", "-c", "sleep 1 & wait"] });
  process.kill(target.process?.pid ?? 0, "SIGKILL");
  await expect.poll(async () => (await lookAt(target))?.process.kind).toBe("dead");
  await expect
    .poll(async () => (await lookAt(target))?.runtime, { timeout: 10_000 })
    .toMatchObject({ kind: "exited", exitStatus: null, signal: "SIGKILL" });
});

test("the ending of an agent is told with its time", async () => {
  const { start } = open();
  const beforeMs = Date.now() - 1000;
  const target = await start({ argv: ["/bin/sh", "-c", "sleep 0.3; exit 4"] });
  const ending = async () => (await lookAt(target))?.runtime;
  await expect.poll(ending, { timeout: 10_000 }).toMatchObject({ exitStatus: 4, signal: null });
  const seen = await ending();
  const atMs = seen?.kind === "exited" ? (seen.atMs ?? 0) : 0;
  expect(atMs).toBeGreaterThanOrEqual(beforeMs);
  expect(atMs).toBeLessThanOrEqual(Date.now());
  expect(await ending()).toEqual(seen);
});

test("the ending of an agent that dies at once is told, however early in the server's life", async () => {
  for (let round = 0; round < 15; round++) {
    const { start } = open();
    const target = await start({ argv: ["/bin/sh", "-c", "exit 4"] }).catch(() => undefined);
    if (target === undefined) continue;
    await expect
      .poll(async () => (await lookAt(target))?.runtime)
      .toMatchObject({ kind: "exited", exitStatus: 4, signal: null });
  }
});

test("thirty sessions are looked at with one call of tmux, in a data directory that was moved with two", async () => {
  const { start, stateDir } = open();
  const targets = await Promise.all(Array.from({ length: 30 }, () => start()));
  const folder = tempDir();
  mkdirSync(folder, { recursive: true });
  const calls = join(folder, "calls");
  writeFileSync(calls, "");
  const tmuxPath = fakeTmux(`echo >> '${calls}'; exec "$real" "$@"`);
  for (const [place, lines] of [
    [stateDir, "\n"],
    [tempDir("ao-moved"), "\n\n\n"],
  ] as const) {
    const runtime = tmuxRuntime({ socketPath: "/nonexistent/tmux", stateDir: place, processes, tmuxPath });
    const seen = await runtime.look(targets);
    expect([...seen.values()].map(({ runtime: { kind } }) => kind)).toEqual(targets.map(() => "alive"));
    expect(readFileSync(calls, "utf8")).toBe(lines);
  }
});

function oneOf<Item>([item]: readonly Item[]): Item {
  if (item === undefined) throw new Error("none is left");
  return item;
}

/** Whether a process ignores SIGHUP by now; true where the system does not tell. */
function ignoresHup(pid: number): boolean {
  if (!existsSync("/proc/self/status")) return true;
  const ignored = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
  return (BigInt(`0x${ignored}`) & 1n) === 1n;
}
