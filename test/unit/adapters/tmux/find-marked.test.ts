import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemProcessTable } from "../../../../src/adapters/processes/system-process-table.ts";
import type { TmuxProgram } from "../../../../src/adapters/tmux/run-tmux.ts";
import type { RuntimeTarget } from "../../../../src/ports/runtime.ts";
import { launchId, sessionId } from "../../../support/builders.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { tmuxRuntime } from "../../../support/tmux-runtime.ts";
import { aRuntimeSpec, fakeTmux, isRunning, tmuxServer } from "../../../support/tmux-server.ts";

const processes = systemProcessTable();

function open() {
  const server = tmuxServer();
  const stateDir = join(tempDir("ao-state"), "runtime");
  const runtimeWith = (program: TmuxProgram = {}, dir = stateDir) =>
    tmuxRuntime({ socketPath: server.socketPath, stateDir: dir, processes, ...program });
  const runtime = runtimeWith();
  const start = async (): Promise<RuntimeTarget> => {
    const spec = aRuntimeSpec();
    const target = { ...spec, ...(await runtime.create(spec)) };
    // A server whose socket is gone cannot be ended over it.
    onTestFinished(() => {
      for (const pid of [target.process.pid, target.handle.server.pid])
        if (isRunning(pid)) process.kill(pid, 9);
    });
    return target;
  };
  return { server, stateDir, runtime, runtimeWith, start };
}

type Opened = ReturnType<typeof open>;

async function markedIds({ marked }: Pick<Opened["runtime"], "marked">): Promise<readonly string[]> {
  return (await marked()).map((one) => one.sessionId);
}

describe("what is not ours is not marked", () => {
  test("a session that a person made on our socket", async () => {
    const { server, runtime, start } = open();
    const target = await start();
    server.tmux("new-session", "-d", "-s", "mine", "sleep 60");
    expect(await markedIds(runtime)).toEqual([target.sessionId]);
  });

  test("a session of a copy of the data directory, which has the same socket", async () => {
    const { runtimeWith, start } = open();
    const target = await start();
    const copy = runtimeWith({}, tempDir("ao-copy"));
    expect(await markedIds(copy)).toEqual([]);
    expect(await copy.find(target.sessionId, target.launchId)).toBeUndefined();
  });
});

test("the agent's own pane is found, also when a person split its window and closed nothing", async () => {
  const { server, runtime, start } = open();
  const target = await start();
  server.tmux("split-window", "-b", "-t", target.handle.paneId, "sleep 60");
  server.tmux("new-window", "-t", `${target.handle.id}:`, "sleep 60");
  const found = await runtime.find(target.sessionId, target.launchId);
  expect(found).toMatchObject({ handle: target.handle, process: target.process });
});

test("a session of which only a person's pane is left has no agent, and is ended whole", async () => {
  const { server, runtime, start } = open();
  const target = await start();
  server.tmux("new-window", "-d", "-t", `${target.handle.id}:`, "sleep 60");
  server.tmux("kill-pane", "-t", target.handle.paneId);
  const found = await runtime.find(target.sessionId, target.launchId);
  expect(found).toMatchObject({ sessionId: target.sessionId, process: null });
  if (found !== undefined) await runtime.destroy(found);
  expect(server.hasSession(target.sessionId)).toBe(false);
});

describe("a server whose socket is gone", () => {
  test("is not told to listen again by a search for all, which is no answer", async () => {
    const { server, runtime, start } = open();
    await start();
    rmSync(dirname(server.socketPath), { recursive: true });
    await expect(runtime.marked()).rejects.toMatchObject({
      code: "runtime_unavailable",
      message: expect.stringContaining("ao reconcile"),
    });
    expect(existsSync(dirname(server.socketPath))).toBe(false);
  });

  test("listens again when it is told to, and its sessions are found", async () => {
    const { server, runtime, start } = open();
    const target = await start();
    rmSync(dirname(server.socketPath), { recursive: true });
    await runtime.reopen();
    expect(await markedIds(runtime)).toEqual([target.sessionId]);
  });

  test("listens again for one who looks for a launch of his own", async () => {
    const { server, runtime, start } = open();
    const target = await start();
    rmSync(dirname(server.socketPath), { recursive: true });
    expect(await runtime.find(target.sessionId, target.launchId)).toMatchObject({ handle: target.handle });
  });

  test("is never taken for none when it does not listen again", async () => {
    const { server, runtime, start } = open();
    const target = await start();
    rmSync(server.socketPath);
    process.kill(target.handle.server.pid, "SIGSTOP");
    onTestFinished(() => void process.kill(target.handle.server.pid, "SIGCONT"));
    await expect(runtime.marked()).rejects.toMatchObject({ code: "runtime_unavailable" });
    await expect(runtime.find(target.sessionId, target.launchId)).rejects.toMatchObject({
      code: "runtime_unavailable",
    });
  });

  test("gets the next session, too, and no second server is started beside it", async () => {
    const { server, runtime, start } = open();
    const first = await start();
    rmSync(server.socketPath);
    const second = await start();
    expect(second.handle.server).toEqual(first.handle.server);
    expect((await markedIds(runtime)).length).toBe(2);
  });

  test.each([
    ["cannot be read", (record: string) => writeFileSync(record, "{")],
    [
      "names one that lives and does not listen again",
      (record: string) => {
        const { pid } = JSON.parse(readFileSync(record, "utf8")) as { readonly pid: number };
        process.kill(pid, "SIGSTOP");
        onTestFinished(() => void (isRunning(pid) && process.kill(pid, "SIGCONT")));
      },
    ],
  ])("gets no second one beside it when the record of it %s", async (_how, damage) => {
    const { server, stateDir, start } = open();
    await start();
    rmSync(server.socketPath);
    const record = join(stateDir, "tmux-server.json");
    damage(record);
    const before = readFileSync(record, "utf8");
    await expect(start()).rejects.toMatchObject({ code: "runtime_unavailable" });
    expect(readFileSync(record, "utf8")).toBe(before);
    expect(existsSync(server.socketPath)).toBe(false);
  });

  test("is not forgotten because another one listens in its place", async () => {
    const { server, runtime, start } = open();
    await start();
    rmSync(server.socketPath);
    server.tmux("new-session", "-d", "-s", "mine", "sleep 60");
    await expect(runtime.marked()).rejects.toMatchObject({ code: "runtime_unavailable" });
  });
});

describe("no server is an empty answer", () => {
  test("when it ended, also when its pid belongs to another process by now", async () => {
    const { server, stateDir, runtime, start } = open();
    const { handle } = await start();
    server.tmux("kill-server");
    await expect.poll(() => runtime.marked()).toEqual([]);
    const other = { ...handle.server, pid: process.pid };
    writeFileSync(join(stateDir, "tmux-server.json"), JSON.stringify(other));
    expect(await runtime.marked()).toEqual([]);
  });

  test.each(["", "{", "[]", '{"pid":"1"}'])("but not when the record of it is %j", async (content) => {
    const { server, stateDir, runtime, start } = open();
    await start();
    server.tmux("kill-server");
    await expect.poll(() => runtime.marked()).toEqual([]);
    const record = join(stateDir, "tmux-server.json");
    writeFileSync(record, content);
    await expect(runtime.marked()).rejects.toMatchObject({ code: "runtime_unavailable" });
    await expect(start()).rejects.toMatchObject({ hint: expect.stringContaining(record) });
    rmSync(record);
    const next = await start();
    expect(await markedIds(runtime)).toEqual([next.sessionId]);
  });
});

test.each<[string, TmuxProgram | string]>([
  ["is missing", { env: { PATH: "/nonexistent" } }],
  ["hangs", "exec sleep 60"],
  ["fails", "echo 'EAGAIN' >&2; exit 1"],
  ["talks nonsense", "echo hello"],
])("nothing is said when tmux %s", async (_what, fault) => {
  const { runtimeWith } = open();
  const runtime = runtimeWith(
    typeof fault === "string" ? { tmuxPath: fakeTmux(fault), timeoutMs: 300 } : fault,
  );
  await expect(runtime.marked()).rejects.toMatchObject({ code: "runtime_unavailable" });
  await expect(runtime.find(sessionId("app-1"), launchId("launch-1"))).rejects.toMatchObject({
    code: "runtime_unavailable",
  });
});

test("the record of the server is for its owner alone, and nothing else is left beside it", async () => {
  const { stateDir, start } = open();
  await start();
  await start();
  expect(readdirSync(stateDir)).toEqual(["tmux-server.json"]);
  expect(statSync(stateDir).mode & 0o777).toBe(0o700);
  expect(statSync(join(stateDir, "tmux-server.json")).mode & 0o777).toBe(0o600);
});
