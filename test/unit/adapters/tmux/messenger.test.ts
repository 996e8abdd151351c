import { createHash, randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemProcessTable } from "../../../../src/adapters/processes/system-process-table.ts";
import type { TmuxProgram } from "../../../../src/adapters/tmux/run-tmux.ts";
import { tmuxMessenger } from "../../../../src/adapters/tmux/tmux-messenger.ts";
import type { MessageTarget } from "../../../../src/ports/messenger.ts";
import { cookedAgent, rawAgent, type StubAgent } from "../../../support/stub-agents.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { tmuxRuntime } from "../../../support/tmux-runtime.ts";
import { aRuntimeSpec, fakeTmux, pidsWith, tmuxServer } from "../../../support/tmux-server.ts";

const processes = systemProcessTable();
const START = "\x1b[200~";
const END = "\x1b[201~";

function open(program: TmuxProgram = {}) {
  const server = tmuxServer();
  const stateDir = tempDir("ao-state");
  const runtime = tmuxRuntime({ socketPath: server.socketPath, stateDir, processes });
  const messenger = tmuxMessenger({ processes, stateDir, ...program });
  const start = async (agent: StubAgent): Promise<MessageTarget> => {
    const spec = aRuntimeSpec({ argv: agent.argv });
    const started = await runtime.create(spec);
    await expect.poll(() => agent.isReady(), { timeout: 20_000 }).toBe(true);
    return { ...spec, ...started, bracketedPaste: agent.bracketedPaste };
  };
  const send = (target: MessageTarget, text: string) => messenger.send(target, text);
  return { server, runtime, messenger, start, send };
}

function sha256(bytes: Buffer | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** What an agent that knows bracketed paste reads: the pasted text, and the keys that came outside of it. */
function pastesOf(bytes: string): { readonly pasted: string; readonly keys: string } {
  const parts = bytes.split(START);
  const pastes = parts.slice(1).map((part) => {
    const end = part.indexOf(END);
    return { pasted: part.slice(0, end), keys: part.slice(end + END.length) };
  });
  return {
    pasted: pastes.map(({ pasted }) => pasted).join(""),
    keys: [parts[0], ...pastes.map(({ keys }) => keys)].join(""),
  };
}

const heard = (agent: StubAgent) => expect.poll(() => agent.received().toString(), { timeout: 10_000 });

test("a message reaches an agent whose server lost its socket", async () => {
  const { server, start, send } = open();
  const agent = rawAgent();
  const target = await start(agent);
  onTestFinished(() => processes.signal(target.handle.server, "SIGTERM"));
  rmSync(server.socketPath);
  expect(await send(target, "hello")).toEqual({ kind: "typed" });
  await heard(agent).toContain("hello");
});

describe("a message arrives as it is and is submitted once", () => {
  const texts = [
    ...[";", "ls;", "a;b;;", "\\;", "-p", "--", "-", "Enter", "C-c", "Escape", "Space"],
    ...[
      "#(touch x)",
      "#{pid}",
      "$HOME",
      "$(touch x)",
      "`touch x`",
      'it\'s "quoted"',
      "  leading",
      "trailing  ",
    ],
    ...["tab\there", "one\ntwo\n\nthree", "Grüße 日本語 🙂"],
  ];
  const controls = ["\x7f\b\x01\x1f", "\x1b[A\x1bOP\x1b", "\x03", "a\r\nb", "a\rb"];

  test("to an agent without bracketed paste, byte for byte", async () => {
    const { start, send } = open();
    const agent = rawAgent();
    const target = await start(agent);
    for (const text of texts) await send(target, text);
    await heard(agent).toBe(texts.map((text) => `${text}\r`).join(""));
  });

  test("to an agent with bracketed paste, each as one paste with one Enter behind it", async () => {
    const { start, send } = open();
    const agent = rawAgent({ bracketed: true });
    const target = await start(agent);
    const all = [...texts, ...controls];
    for (const text of all) await send(target, text);
    await heard(agent).toBe(all.map((text) => `${START}${text}${END}\r`).join(""));
  });

  test("or is refused whole, before a key of it is pressed, by an agent without bracketed paste", async () => {
    const { server, start, send } = open();
    const agent = rawAgent();
    const target = await start(agent);
    for (const text of [...controls, `x${END}y`]) {
      await expect(send(target, text)).rejects.toMatchObject({ code: "message_unsafe" });
    }
    await send(target, "then");
    await heard(agent).toBe("then\r");
    expect(server.buffers()).toEqual([]);
  });

  test("never as ^C, ^Z or ^\\ to a program that reads lines, which runs on", async () => {
    const { runtime, start, send } = open();
    const target = await start(cookedAgent());
    for (const text of ["stop\x03", "\x1a", "\x1c"]) {
      await expect(send(target, text)).rejects.toMatchObject({ code: "message_unsafe" });
    }
    expect((await runtime.look([target])).get(target.sessionId)).toMatchObject({
      process: { kind: "alive" },
    });
  });

  test("to a program that reads lines", async () => {
    const { start, send } = open();
    const agent = cookedAgent();
    await send(await start(agent), "ls -l;");
    await heard(agent).toBe("ls -l;\n");
  });

  test.each([
    ["hi\n", "hi"],
    ["hi\r\n\n", "hi"],
    ["a\nb\n", "a\nb"],
    ["\nhi", "\nhi"],
  ])("%j without the newlines at its end", async (text, typed) => {
    const { start, send } = open();
    const agent = rawAgent({ bracketed: true });
    await send(await start(agent), text);
    await heard(agent).toBe(`${START}${typed}${END}\r`);
  });

  test.each([
    ["nothing", ""],
    ["only newlines", "\n\n"],
  ])("when it is %s, as a bare Enter", async (_what, text) => {
    const { start, send } = open();
    const agent = rawAgent({ bracketed: true });
    await send(await start(agent), text);
    await heard(agent).toBe("\r");
  });

  test.each([
    ["without", false],
    ["with", true],
  ])("when it has a megabyte, to an agent %s bracketed paste", async (_what, bracketed) => {
    const { server, start, send } = open();
    const agent = rawAgent({ bracketed });
    const target = await start(agent);
    const text = `${randomBytes(512 * 1024 - 8).toString("hex")}\nthe end;`;
    await send(target, text);
    const expected = bracketed ? `${START}${text}${END}\r` : `${text}\r`;
    await expect.poll(() => agent.received().length, { timeout: 20_000 }).toBe(Buffer.byteLength(expected));
    expect(sha256(agent.received())).toBe(sha256(expected));
    expect(server.buffers()).toEqual([]);
  });

  test.each([
    ["while a person scrolls in it", ["copy-mode"]],
    ["while it shows a clock", ["clock-mode"]],
    ["while a person chooses a session in it", ["choose-tree"]],
  ])("never %s, and once that is over", async (_what, [command = "", ...args]) => {
    const { server, messenger, start, send } = open();
    const agent = rawAgent({ bracketed: true });
    const target = await start(agent);
    server.tmux(command, ...args, "-t", target.handle.paneId);
    expect(await messenger.isInUse(target)).toBe(true);
    await expect(send(target, "hi")).rejects.toMatchObject({ code: "runtime_unavailable" });
    expect(server.buffers()).toEqual([]);
    server.tmux("copy-mode", "-q", "-t", target.handle.paneId);
    expect(await messenger.isInUse(target)).toBe(false);
    await send(target, "then");
    await heard(agent).toBe(`${START}then${END}\r`);
  });
});

describe("a message that ends a paste", () => {
  const hostile = [
    `x${END}\rrm -rf\r.`,
    END,
    `${END}${END}`,
    `\x1b${END}`,
    `a\u009b201~b`,
    `-p${END};`,
    `'"$HOME\\${END}\n#{pid};`,
    `${START}x${END}y${START}`,
  ];

  test.each(hostile)("%j stays within pastes, and their text is the message", async (text) => {
    const { server, start, send } = open();
    const agent = rawAgent({ bracketed: true });
    await send(await start(agent), text);
    await expect.poll(() => agent.received().toString().endsWith(`${END}\r`), { timeout: 10_000 }).toBe(true);
    const received = agent.received().toString();
    const inner = received.replaceAll(`${END}${START}`, "").slice(START.length, -END.length - 1);
    expect(inner).toBe(text);
    expect(server.buffers()).toEqual([]);
  });

  test("is all text and no key to an agent that looks for the end of each paste", async () => {
    const { start, send } = open();
    const agent = rawAgent({ bracketed: true });
    await send(await start(agent), `x${END}\rrm -rf\r${END}y`);
    await expect
      .poll(() => agent.received().toString().endsWith(`y${END}\r`), { timeout: 10_000 })
      .toBe(true);
    expect(pastesOf(agent.received().toString())).toEqual({ pasted: `x${END}\rrm -rf\r${END}y`, keys: "\r" });
  });

  test("by the short form of its sign is the same bytes to an agent without bracketed paste", async () => {
    const { start, send } = open();
    const agent = rawAgent();
    const text = "a\u009b201~b";
    await send(await start(agent), text);
    await heard(agent).toBe(`${text}\r`);
  });

  test("any mix of such parts arrives", async () => {
    const { start, send } = open();
    const agent = rawAgent({ bracketed: true });
    const target = await start(agent);
    const part = fc.constantFrom(
      END,
      "\x1b",
      "[201~",
      "\u009b",
      "201~",
      "'",
      '"',
      "\\",
      "$",
      ";",
      "\n",
      "é",
      "x",
    );
    let expected = "";
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 12 }), async (parts) => {
        const text = `${parts.join("")}.`;
        await send(target, text);
        expected += `${START}${text}${END}\r`;
        await expect
          .poll(() => agent.received().toString().replaceAll(`${END}${START}`, ""), { timeout: 10_000 })
          .toBe(expected);
      }),
      { numRuns: 30 },
    );
  });

  test("a thousand times over is refused rather than let the server stall", async () => {
    const { start, send } = open();
    const agent = rawAgent({ bracketed: true });
    await expect(send(await start(agent), END.repeat(1001))).rejects.toMatchObject({
      code: "delivery_failed",
    });
    expect(agent.received().toString()).toBe("");
  });
});

test("twenty messages at once to four agents arrive whole, each at its own, none within another", async () => {
  const { server, start, send } = open();
  const agents = Array.from({ length: 4 }, () => rawAgent({ bracketed: true }));
  const targets = await Promise.all(agents.map((agent) => start(agent)));
  const texts = targets.map((_target, index) =>
    Array.from({ length: 5 }, (_, message) => `agent ${index} message ${message} ${END}${"x".repeat(2000)}`),
  );
  await Promise.all(
    targets.flatMap((target, index) => (texts[index] ?? []).map((text) => send(target, text))),
  );
  for (const [index, agent] of agents.entries()) {
    const submitted = () => agent.received().toString().split("\r").slice(0, -1);
    await expect.poll(() => submitted().length, { timeout: 10_000 }).toBe(5);
    expect(
      submitted()
        .map((text) => pastesOf(text).pasted)
        .sort(),
    ).toEqual([...(texts[index] ?? [])].sort());
  }
  expect(server.buffers()).toEqual([]);
});

test("the text is on no command line, neither while it is sent nor after", async () => {
  const { start, send } = open();
  const secret = `secret-${randomBytes(8).toString("hex")}`;
  const target = await start(rawAgent({ bracketed: true }));
  await Promise.all([
    send(target, secret),
    send(target, `${secret}${END}`),
    Promise.resolve(pidsWith(secret)),
  ]);
  expect(pidsWith(secret)).toEqual([]);
});

describe("a message that cannot be typed", () => {
  test("because the agent has exited is not_running, though its terminal is still there", async () => {
    const { runtime, start, send } = open();
    const target = await start(rawAgent());
    process.kill(target.process?.pid ?? 0, "SIGKILL");
    await expect
      .poll(async () => (await runtime.look([target])).get(target.sessionId)?.runtime.kind)
      .toBe("exited");
    await expect(send(target, "hi")).rejects.toMatchObject({ code: "not_running" });
  });

  test("because its server is gone is not_running", async () => {
    const { server, start, send } = open();
    const target = await start(rawAgent());
    server.tmux("kill-server");
    await expect(send(target, "hi")).rejects.toMatchObject({ code: "not_running" });
  });

  test.each([
    ["is missing", null],
    ["hangs", "exec sleep 60"],
    ["fails", "echo 'EAGAIN' >&2; exit 1"],
  ])("because tmux %s is runtime_unavailable", async (_what, script) => {
    const { start } = open();
    const agent = rawAgent();
    const target = await start(agent);
    const program =
      script === null ? { env: { PATH: "/nonexistent" } } : { tmuxPath: fakeTmux(script), timeoutMs: 300 };
    await expect(open(program).send(target, "hi")).rejects.toMatchObject({ code: "runtime_unavailable" });
    expect(agent.received().toString()).toBe("");
  });

  test("because tmux refused the paste is delivery_failed", async () => {
    const script = 'case "$*" in *load-buffer*) echo "no space" >&2; exit 1;; esac; exec "$real" "$@"';
    const { start } = open();
    const target = await start(rawAgent());
    const { send } = open({ tmuxPath: fakeTmux(script) });
    await expect(send(target, "hi")).rejects.toMatchObject({
      code: "delivery_failed",
      message: expect.stringContaining("no space"),
    });
  });

  test("because the terminal was closed to input at the last moment is delivery_failed, and no buffer is left", async () => {
    const { server, start } = open();
    const agent = rawAgent({ bracketed: true });
    const target = await start(agent);
    const close = `"$real" -S '${server.socketPath}' select-pane -d -t ${target.handle.paneId}`;
    const { send } = open({
      tmuxPath: fakeTmux(`case "$*" in *load-buffer*|*source-file*) ${close};; esac; exec "$real" "$@"`),
    });
    for (const text of ["hi", `hi${END}`]) {
      server.tmux("select-pane", "-e", "-t", target.handle.paneId);
      await expect(send(target, text)).rejects.toMatchObject({ code: "delivery_failed" });
    }
    expect(agent.received().toString()).toBe("");
    expect(server.buffers()).toEqual([]);
  });

  test("for all that is known, because tmux hung while it typed, is no certain failure", async () => {
    const { start } = open();
    const agent = rawAgent();
    const target = await start(agent);
    const script = 'case "$*" in *load-buffer*) "$real" "$@"; exec sleep 60;; esac; exec "$real" "$@"';
    const { send } = open({ tmuxPath: fakeTmux(script), timeoutMs: 500 });
    expect(await send(target, "hi")).toMatchObject({ kind: "unknown" });
    await heard(agent).toBe("hi\r");
  });

  test("for all that is known, because its server died while it typed, is no certain failure", async () => {
    const { start, messenger } = open({ timeoutMs: 60_000 });
    const agent = rawAgent();
    const target = await start(agent);
    const sent = messenger.send({ ...target, enterDelayMs: 60_000 }, "hi");
    await Promise.all([expect(sent).resolves.toMatchObject({ kind: "unknown" }), endServer()]);

    async function endServer() {
      await heard(agent).toBe("hi");
      await processes.signal(target.handle.server, "SIGKILL");
    }
  });
});
