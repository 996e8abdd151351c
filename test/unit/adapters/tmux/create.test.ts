import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemProcessTable } from "../../../../src/adapters/processes/system-process-table.ts";
import type { TmuxProgram } from "../../../../src/adapters/tmux/run-tmux.ts";
import { isAoError } from "../../../../src/domain/errors.ts";
import type { RuntimeSpec } from "../../../../src/ports/runtime.ts";
import { exitingAgent, stubbornAgent } from "../../../support/stub-agents.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { tmuxRuntime } from "../../../support/tmux-runtime.ts";
import { aRuntimeSpec, fakeTmux, isRunning, pidsWith, tmuxServer } from "../../../support/tmux-server.ts";

const processes = systemProcessTable();

function open(program: TmuxProgram = {}) {
  const server = tmuxServer();
  const { socketPath } = server;
  const stateDir = tempDir("ao-state");
  /** The same data directory as the next `ao` sees it. */
  const again = (other: TmuxProgram) => tmuxRuntime({ socketPath, stateDir, processes, ...other });
  return { server, socketPath, runtime: again(program), again };
}

interface Self {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly size: readonly number[];
}

/** An agent that writes down what it is, and the way to read it. */
function selfPortrait(args: readonly string[] = []) {
  const folder = tempDir();
  const [program, file] = [join(folder, "agent.mjs"), join(folder, "self.json")];
  writeFileSync(
    program,
    `import { renameSync, writeFileSync } from "node:fs";
const size = process.stdout.getWindowSize();
const self = { argv: process.argv.slice(2), cwd: process.cwd(), env: process.env, size };
writeFileSync(${JSON.stringify(`${file}.tmp`)}, JSON.stringify(self));
renameSync(${JSON.stringify(`${file}.tmp`)}, ${JSON.stringify(file)});
setTimeout(() => {}, 60_000);`,
  );
  return {
    argv: [process.execPath, program, ...args],
    read: async (): Promise<Self> => {
      await expect.poll(() => existsSync(file), { timeout: 20_000 }).toBe(true);
      return JSON.parse(readFileSync(file, "utf8")) as Self;
    },
  };
}

describe("an agent that tmux starts", () => {
  test("has exactly its own arguments, environment and a wide terminal", async () => {
    const { runtime, socketPath } = open({
      env: { ...process.env, SECRET_OF_CALLER: "x", TMUX: "/other,1,0" },
    });
    const args = ["", "a b", "$(touch x)", "#(touch x)", "it's", "-rf", ";", "a;", "new\nline", "ünï"];
    const agent = selfPortrait(args);
    const env = { PATH: "/bin", NASTY: 'it\'s\n$(touch x)\n"q" `y`', "NO-NAME": "x", TERM: "dumb" };
    const spec = aRuntimeSpec({ argv: agent.argv, env });
    const { handle } = await runtime.create(spec);
    const self = await agent.read();
    expect(self.argv).toEqual(args);
    expect(self.cwd).toBe(spec.workspacePath);
    expect(self.size).toEqual([200, 50]);
    expect(self.env).toEqual({
      PATH: "/bin",
      NASTY: env.NASTY,
      AO_SESSION_ID: spec.sessionId,
      AO_LAUNCH_ID: spec.launchId,
      TERM: "tmux-256color",
      TMUX: expect.stringContaining(`${socketPath},`),
      TMUX_PANE: handle.paneId,
      PWD: spec.workspacePath,
    });
  });

  test.each([
    ["with space"],
    ["it's"],
    ["#(touch x)"],
    ["#{pid}"],
    ["$(touch x)"],
    ["ünï 日本"],
    ["a;"],
    ['"q"'],
  ])("starts in a workspace called %j and executes nothing of the name", async (name) => {
    const { runtime } = open();
    const workspacePath = join(tempDir(), name);
    mkdirSync(workspacePath);
    const agent = selfPortrait();
    await runtime.create(aRuntimeSpec({ workspacePath, argv: agent.argv }));
    expect((await agent.read()).cwd).toBe(workspacePath);
    expect(existsSync(join(workspacePath, "x"))).toBe(false);
  });

  test("its environment is on no command line and in no file once it runs", async () => {
    const { runtime } = open();
    const secret = `secret-${process.pid}-${Date.now()}`;
    const spec = aRuntimeSpec({ env: { API_KEY: secret } });
    const starting = runtime.create(spec);
    let isStarted = false;
    void starting.finally(() => {
      isStarted = true;
    });
    while (!isStarted) {
      expect(pidsWith(secret)).toEqual([]);
      await new Promise(setImmediate);
    }
    await starting;
    expect(pidsWith(secret)).toEqual([]);
    expect(existsSync(join(spec.launchDir, "env"))).toBe(false);
    expect(readFileSync(join(spec.launchDir, "launch.sh"), "utf8")).not.toContain(secret);
  });

  test("is the process of the pane, and its server belongs to no caller and sits in no workspace", async () => {
    const { runtime, server } = open();
    const spec = aRuntimeSpec();
    const { handle, process: agent } = await runtime.create(spec);
    const { pid } = handle.server;
    expect(server.tmux("list-panes", "-a", "-F", "#{pid} #{pane_pid}")).toBe(`${pid} ${agent.pid}`);
    const group = execFileSync("ps", ["-o", "pgid=", "-p", String(pid)], { encoding: "utf8" });
    expect(Number(group)).toBe(pid);
    expect((await processes.usersOf(spec.workspacePath)).map((user) => user.pid)).toEqual([agent.pid]);
  });
});

describe("the server", () => {
  test.each([
    ["destroy-unattached", "set -g destroy-unattached on", "off"],
    ["exit-unattached", "set -s exit-unattached on", "off"],
    ["remain-on-exit", "set -gw remain-on-exit off", "on"],
    ["default-terminal", "set -g default-terminal vt100", "tmux-256color"],
  ])("takes no %s from the user's configuration", async (option, line, value) => {
    const home = tempDir();
    writeFileSync(join(home, ".tmux.conf"), `${line}\nnew-session -d -s mine\n`);
    const { runtime, server } = open({ env: { ...process.env, HOME: home } });
    await runtime.create(aRuntimeSpec());
    expect(server.tmux("show-options", "-Av", "-t", "app", option).split("\n").at(-1)).toBe(value);
    expect(server.hasSession("mine")).toBe(false);
  });

  test("starts once for twenty agents at once, and all of them run", async () => {
    const { runtime, server } = open();
    const specs = Array.from({ length: 20 }, () => aRuntimeSpec());
    const started = await Promise.all(specs.map((spec) => runtime.create(spec)));
    expect(new Set(started.map(({ handle }) => handle.server.pid)).size).toBe(1);
    expect(new Set(started.map(({ handle }) => handle.paneId)).size).toBe(20);
    expect(
      server.tmux("list-sessions", "-F", "#{@ao_session_id} #{@ao_launch_id}").split("\n").sort(),
    ).toEqual(specs.map(({ sessionId, launchId }) => `${sessionId} ${launchId}`).sort());
  });

  test("that ends with its last session does not lose the agent that comes just then", async () => {
    const { runtime } = open();
    for (let round = 0; round < 10; round++) {
      const spec = aRuntimeSpec();
      const started = await runtime.create(spec);
      const next = aRuntimeSpec();
      const [, { process: agent }] = await Promise.all([
        runtime.destroy({ ...spec, ...started }),
        runtime.create(next),
      ]);
      expect(isRunning(agent.pid)).toBe(true);
    }
  });

  test("of another data directory may have a session of the same id", async () => {
    const [one, other] = [open(), open()];
    const spec = aRuntimeSpec();
    const first = await one.runtime.create(spec);
    const second = await other.runtime.create({ ...aRuntimeSpec(), sessionId: spec.sessionId });
    await one.runtime.destroy({ ...spec, ...first });
    expect(isRunning(second.process.pid)).toBe(true);
  });
});

describe("a start that fails", () => {
  /** What a failed start leaves of its launch. */
  function leftOf(spec: RuntimeSpec, hasSession: (name: string) => boolean): readonly string[] {
    return [
      ...pidsWith(spec.launchDir).map((pid) => `process ${pid}`),
      ...["env", "launch.sh"].filter((name) => existsSync(join(spec.launchDir, name))),
      ...(hasSession(spec.sessionId) ? ["session"] : []),
    ];
  }

  test.each([
    [
      "exits with 7",
      exitingAgent(7, { says: "no such model", afterSeconds: 0.3 }),
      { exitStatus: 7, output: ["no such model"] },
    ],
    ["exits with 0", exitingAgent(0), { exitStatus: 0 }],
    ["exits a moment later", exitingAgent(3, { afterSeconds: 0.3 }), { exitStatus: 3 }],
    ["is killed", ["/bin/sh", "-c", "kill -9 $$"], { exitStatus: null, signal: "SIGKILL" }],
    [
      "exits with the status of a missing workspace",
      exitingAgent(97, { afterSeconds: 0.3 }),
      { exitStatus: 97, output: ["goodbye"] },
    ],
    ["is not there", ["/no/such/agent"], { exitStatus: 127 }],
    ["is no program", ["/etc/passwd"], { exitStatus: 127 }],
  ])("because the agent %s tells so and leaves nothing", async (_what, argv, details) => {
    const { runtime, server } = open();
    const spec = aRuntimeSpec({ argv, settleMs: 2000 });
    await expect(runtime.create(spec)).rejects.toMatchObject({ code: "agent_start_failed", details });
    expect(leftOf(spec, server.hasSession)).toEqual([]);
  });

  test.each([[["/no/such/agent"]], [["/etc/passwd"]]])(
    "tells that %s cannot be run, also when nothing of its screen was kept",
    async (argv) => {
      const { runtime } = open({
        tmuxPath: fakeTmux(`case "$*" in *capture-pane*) exit 0;; esac\nexec "$real" "$@"`),
      });
      const spec = aRuntimeSpec({ argv, settleMs: 2000 });
      const message = `the agent of ${spec.sessionId}, ${argv[0]}, cannot be run`;
      await expect(runtime.create(spec)).rejects.toMatchObject({ code: "agent_start_failed", message });
    },
  );

  test("tells the last words also when tmux was too busy to show them at first", async () => {
    const seen = join(tempDir("ao-busy"), "seen");
    const busy = `case "$*" in *capture-pane*) [ -e '${seen}' ] || { : > '${seen}'; sleep 0.5; exit 1; };; esac`;
    const { runtime } = open({ tmuxPath: fakeTmux(`${busy}\nexec "$real" "$@"`) });
    const spec = aRuntimeSpec({
      argv: exitingAgent(7, { says: "no such model", afterSeconds: 0.3 }),
      settleMs: 2000,
    });
    const details = { exitStatus: 7, output: ["no such model"] };
    await expect(runtime.create(spec)).rejects.toMatchObject({ details });
  });

  test("tells the status however early in the server's life the agent died", async () => {
    for (let round = 0; round < 20; round++) {
      const { runtime } = open();
      const spec = aRuntimeSpec({ argv: exitingAgent(5), settleMs: 2000 });
      await expect(runtime.create(spec)).rejects.toMatchObject({ details: { exitStatus: 5 } });
    }
  });

  test("leaves none of the processes that the agent had started already", async () => {
    const { runtime } = open();
    const marker = `birth-${process.pid}`;
    const [, , script] = stubbornAgent(marker);
    const ends = String(script).replace(/while :; do sleep 0.2; done$/, "sleep 0.3; exit 1");
    const spec = aRuntimeSpec({ argv: ["/bin/sh", "-c", ends, `${marker}-agent`], settleMs: 2000 });
    await expect(runtime.create(spec)).rejects.toMatchObject({ code: "agent_start_failed" });
    expect(pidsWith(marker)).toEqual([]);
  });

  test.each<[string, string, RegExp]>([
    [
      "is too old",
      '[ "$1" = -V ] && exec echo "tmux 3.0a"; echo "usage: new-session" >&2; exit 1',
      /3.0a is too old/,
    ],
    ["hangs", "exec sleep 60", /^$/],
    ["talks nonsense", "echo hello", /^$/],
    ["fails", "echo 'fork failed: EAGAIN' >&2; exit 1", /^$/],
  ])("because tmux %s is runtime_unavailable and leaves nothing", async (_what, script, hint) => {
    const { runtime, server } = open({ tmuxPath: fakeTmux(script), timeoutMs: 1000 });
    const spec = aRuntimeSpec();
    const error = await runtime.create(spec).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "runtime_unavailable" });
    expect(isAoError(error) ? (error.hint ?? "") : undefined).toMatch(hint);
    expect(leftOf(spec, server.hasSession)).toEqual([]);
  });

  test("because tmux is missing says how to install it and leaves nothing", async () => {
    const { runtime, server } = open({ env: { PATH: "/nonexistent" } });
    const spec = aRuntimeSpec();
    await expect(runtime.create(spec)).rejects.toMatchObject({
      code: "runtime_unavailable",
      hint: expect.stringContaining("install tmux 3.2"),
      details: expect.not.objectContaining({ left: expect.anything() }),
    });
    expect(leftOf(spec, server.hasSession)).toEqual([]);
  });

  test("because nobody could look at the agent is no start, and the agent is ended", async () => {
    const server = tmuxServer();
    let isBlind = true;
    const blind = {
      ...processes,
      look: async (identities: Parameters<typeof processes.look>[0]) =>
        isBlind
          ? identities.map(() => ({ kind: "probe_failed", cause: "EMFILE" }) as const)
          : processes.look(identities),
      family: (...asked: Parameters<typeof processes.family>) => {
        isBlind = false;
        return processes.family(...asked);
      },
    };
    const { socketPath } = server;
    const runtime = tmuxRuntime({ socketPath, stateDir: tempDir("ao-state"), processes: blind });
    const spec = aRuntimeSpec();
    await expect(runtime.create(spec)).rejects.toMatchObject({
      code: "runtime_unavailable",
      message: expect.stringContaining("EMFILE"),
    });
    expect(server.hasSession(spec.sessionId)).toBe(false);
    expect(pidsWith(spec.launchDir)).toEqual([]);
  });

  test("because a file is where its launch folder belongs says so, and has nothing to take back", async () => {
    const { runtime } = open();
    const file = join(tempDir(), "launch");
    writeFileSync(file, "mine");
    const error = await runtime.create(aRuntimeSpec({ launchDir: join(file, "launch-1") })).catch((e) => e);
    expect(error).toMatchObject({
      code: "data_dir_unusable",
      message: expect.stringContaining(`${file}/launch-1 cannot be written`),
      hint: expect.any(String),
      details: {},
    });
    expect(error.details.left).toBeUndefined();
    expect(readFileSync(file, "utf8")).toBe("mine");
  });

  test("because tmux hung after it had made the session leaves nothing", async () => {
    const script = 'case "$*" in *new-session*) "$real" "$@"; exec sleep 60;; esac; exec "$real" "$@"';
    const { runtime, server } = open({ tmuxPath: fakeTmux(script), timeoutMs: 1000 });
    const spec = aRuntimeSpec();
    await expect(runtime.create(spec)).rejects.toMatchObject({ code: "runtime_unavailable" });
    expect(leftOf(spec, server.hasSession)).toEqual([]);
  });

  test("keeps the agent's ending and names the session that could not be taken back", async () => {
    const lame = fakeTmux('case "$*" in *kill-session*) exit 0;; esac; exec "$real" "$@"');
    const { runtime, socketPath } = open({ tmuxPath: lame });
    const spec = aRuntimeSpec({
      argv: exitingAgent(7, { says: "no such model", afterSeconds: 0.3 }),
      settleMs: 2000,
    });
    await expect(runtime.create(spec)).rejects.toMatchObject({
      code: "agent_start_failed",
      message: expect.stringContaining("no such model"),
      details: {
        exitStatus: 7,
        signal: null,
        output: ["no such model"],
        left: [{ what: "tmux session", where: `$0 on ${socketPath}`, why: expect.any(String) }],
      },
    });
  });

  test.each([
    ["hangs", "exec sleep 60"],
    ["fails", "echo 'fork failed: EAGAIN' >&2; exit 1"],
    ["talks nonsense", "echo hello"],
  ])("does not take a tmux that %s for one without the session", async (_what, fault) => {
    const script = `case "$*" in *new-session*) "$real" "$@" >&2; : > "$0.made"; ${fault};; esac; [ -e "$0.made" ] || exec "$real" "$@"; ${fault}`;
    const { runtime, server, socketPath } = open({ tmuxPath: fakeTmux(script), timeoutMs: 1000 });
    const spec = aRuntimeSpec();
    await expect(runtime.create(spec)).rejects.toMatchObject({
      code: "runtime_unavailable",
      message: expect.stringContaining("could not be taken back"),
      details: {
        left: [
          {
            what: "tmux session",
            where: `${spec.sessionId} on ${socketPath}`,
            why: expect.stringContaining("could not look"),
          },
        ],
      },
    });
    // It was there, and only its agent could be ended.
    const isDead = () => server.tmux("list-panes", "-t", `=${spec.sessionId}:`, "-F", "#{pane_dead}");
    await expect.poll(isDead).toBe("1");
  });

  test("does not take a server that lost its socket meanwhile for none", async () => {
    const { runtime, server, again } = open();
    const first = aRuntimeSpec();
    const { process: agent, handle } = await runtime.create(first);
    onTestFinished(() => processes.signal(handle.server, "SIGKILL"));
    const script = 'case "$*" in *new-session*) "$real" "$@"; rm "$3"; exit 1;; esac; exec "$real" "$@"';
    const spec = aRuntimeSpec();
    const failing = again({ tmuxPath: fakeTmux(script) }).create(spec);
    await expect(failing).rejects.toMatchObject({ code: "runtime_unavailable" });
    expect(leftOf(spec, server.hasSession)).toEqual([]);
    expect([server.hasSession(first.sessionId), isRunning(agent.pid)]).toEqual([true, true]);
  });

  test("because the name is taken leaves the session that has it as it was", async () => {
    const { runtime, server } = open();
    const spec = aRuntimeSpec();
    await runtime.create(aRuntimeSpec());
    server.tmux("new-session", "-d", "-s", spec.sessionId, "echo mine; exec sleep 60");
    await expect(runtime.create(spec)).rejects.toMatchObject({ code: "operation_in_progress" });
    expect(server.tmux("display-message", "-p", "-t", `=${spec.sessionId}:`, "#{pane_dead}")).toBe("0");
  });

  test("of a server that was just going away is tried again", async () => {
    const mark = join(tempDir(), "mark");
    const script = `case "$*" in *new-session*) [ -e '${mark}' ] || { : > '${mark}'; echo 'server exited unexpectedly' >&2; exit 1; };; esac; exec "$real" "$@"`;
    const { runtime } = open({ tmuxPath: fakeTmux(script) });
    const { process: agent } = await runtime.create(aRuntimeSpec());
    expect(isRunning(agent.pid)).toBe(true);
  });
});
