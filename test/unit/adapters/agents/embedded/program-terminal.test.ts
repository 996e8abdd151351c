import { execFileSync, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readMemory } from "../../../../../src/adapters/agents/embedded/program/conversation-record.ts";
import { aPlace, bundleProgram, CONVERSATION, PATIENCE, reported, sessionEnv } from "./agent-program.ts";

let folder = "";
let program = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "ao-terminal-"));
  program = await bundleProgram(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The program on a real terminal: a pane of 80 columns on a tmux server of this test alone. */
function startInTmux(wrapper: readonly string[] = []) {
  const place = aPlace();
  const socket = join(mkdtempSync(join(tmpdir(), "ao-tmux-")), "s");
  const tmux = (args: readonly string[], input?: string | Buffer) =>
    execFileSync("tmux", ["-S", socket, "-f", "/dev/null", "-u", ...args], { encoding: "utf8", input });
  const env = Object.entries(sessionEnv(place.dataDir)).flatMap(([name, value]) => [
    "-e",
    `${name}=${value}`,
  ]);
  const command = [...wrapper, process.execPath, program, "--session-id", CONVERSATION];
  onTestFinished(() => {
    tmux(["kill-server"]);
    rmSync(join(socket, ".."), { recursive: true, force: true });
  });
  tmux(["start-server", ";", "set", "-g", "remain-on-exit", "on", ";", "set", "-g", "exit-empty", "off"]);
  tmux(["new-session", "-d", "-x", "80", "-y", "24", "-c", place.cwd, ...env, "--", ...command]);
  const format = (text: string) => tmux(["display-message", "-p", text]).trim();
  const pid = Number(format("#{pane_pid}"));
  onTestFinished(async () => {
    if (isAlive(pid)) process.kill(pid, "SIGKILL");
    await expect.poll(() => isAlive(pid), PATIENCE).toBe(false);
  });
  /** A tmux with libutempter may miss a death until the next SIGCHLD (tmux issues 311 and 4559). */
  const exit = () => {
    process.kill(Number(format("#{pid}")), "SIGCHLD");
    return format("#{pane_dead} #{pane_dead_status}");
  };
  return {
    ...place,
    tmux,
    exit,
    pid,
    screen: () => tmux(["capture-pane", "-p"]),
    paste: (text: string | Buffer) => {
      tmux(["load-buffer", "-b", "p", "-"], text);
      tmux(["paste-buffer", "-d", "-p", "-r", "-b", "p"]);
    },
    keys: (...names: string[]) => tmux(["send-keys", ...names]),
    expectLast: (report: string) => expect.poll(() => lastReport(place.dataDir), PATIENCE).toBe(report),
  };
}

/** A process that ended and was not waited for yet is not alive: tmux 3.3a leaves some of its own so. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.startsWith("Z");
}

function lastReport(dataDir: string): string | undefined {
  return reported(dataDir).at(-1);
}

async function ready() {
  const agent = startInTmux();
  await agent.expectLast("session_start:startup");
  return agent;
}

function lastPrompt(dataDir: string): string | undefined {
  const content = readFileSync(join(dataDir, "embedded", `${CONVERSATION}.jsonl`), "utf8");
  return readMemory(content).prompts.at(-1);
}

describe("on a terminal", () => {
  test("typed keys are edited on the line and submitted by enter", async () => {
    const agent = await ready();
    agent.keys("-l", "junk");
    agent.keys("C-u");
    agent.keys("-l", "say héllox");
    agent.keys("BSpace", "Enter");
    await agent.expectLast("turn_end:completed");
    expect(lastPrompt(agent.dataDir)).toBe("say héllo");
    await expect.poll(agent.screen, PATIENCE).toContain("\nhéllo\ncompleted\nready\n>");
  });

  test("a paste of three lines is one submission", async () => {
    const agent = await ready();
    agent.paste("say one\nsay two\nsay three");
    await expect.poll(agent.screen, PATIENCE).toContain("> [3 lines, 25 bytes]");
    agent.keys("Enter");
    await agent.expectLast("turn_end:completed");
    expect(lastPrompt(agent.dataDir)).toBe("say one\nsay two\nsay three");
  });

  test("two adjacent pastes, the first of which ends in an escape byte, are one submission", async () => {
    const agent = await ready();
    agent.paste("note \x1b");
    agent.paste("[201~\r\x03 still the same");
    agent.keys("Enter");
    await agent.expectLast("turn_end:completed");
    expect(lastPrompt(agent.dataDir)).toBe("note \x1b[201~\r\x03 still the same");
  });

  test("a paste of 1 MB arrives whole, and so does its receipt", async () => {
    const agent = await ready();
    const text = randomBytes(750_000).toString("base64").replaceAll("A", "\n");
    const digest = (value: string | undefined) =>
      createHash("sha256")
        .update(value ?? "")
        .digest("hex");
    agent.paste(text);
    agent.keys("Enter");
    await agent.expectLast("turn_end:completed");
    expect(digest(lastPrompt(agent.dataDir))).toBe(digest(text));
    expect(digest(reported(agent.dataDir).at(-2)?.slice("submit:".length))).toBe(digest(text));
  });

  test("escape interrupts a turn", async () => {
    const agent = await ready();
    agent.keys("-l", "wait 60");
    agent.keys("Enter");
    await agent.expectLast("submit:wait 60");
    agent.keys("Escape");
    await agent.expectLast("turn_end:interrupted");
  });

  test("ctrl-c twice leaves although a turn runs", async () => {
    const agent = await ready();
    agent.keys("-l", "wait 60");
    agent.keys("Enter");
    await agent.expectLast("submit:wait 60");
    agent.keys("C-c", "C-c");
    await expect.poll(agent.exit, PATIENCE).toBe("1 0");
    expect(lastReport(agent.dataDir)).toBe("session_end:user");
  });

  test("nothing that is said can act on the terminal", async () => {
    const agent = await ready();
    agent.paste("say \x1b[2J\x1b]0;owned\x07 done");
    agent.keys("Enter");
    await agent.expectLast("turn_end:completed");
    await expect.poll(agent.screen, PATIENCE).toContain("\n\\x1b[2J\\x1b]0;owned\\x07 done\n");
  });

  test("a draft wider than the terminal shows its end on one line", async () => {
    const agent = await ready();
    agent.keys("-l", `${"x".repeat(200)}END`);
    await expect.poll(agent.screen, PATIENCE).toMatch(/^> x{74}END$/m);
    expect(agent.screen()).not.toMatch(/^x/m);
  });

  test.each([
    ["TERM", 143],
    ["HUP", 129],
  ])("SIG%s exits with %i", async (signal, code) => {
    const agent = await ready();
    process.kill(agent.pid, `SIG${signal}`);
    await expect.poll(agent.exit, PATIENCE).toBe(`1 ${code}`);
    expect(lastReport(agent.dataDir)).toBe(`session_end:SIG${signal}`);
  });

  test("the terminal is given back as it was", async () => {
    const agent = startInTmux(["sh", "-c", 'stty -a >before; "$@"; stty -a >after; cat -v', "sh"]);
    await agent.expectLast("session_start:startup");
    const [, child] =
      /^(\d+)$/m.exec(execFileSync("pgrep", ["-P", String(agent.pid)], { encoding: "utf8" })) ?? [];
    process.kill(Number(child), "SIGTERM");
    const settings = (name: string) => readFileSync(join(agent.cwd, name), "utf8");
    await agent.expectLast("session_end:SIGTERM");
    await expect.poll(() => existsSync(join(agent.cwd, "after")), PATIENCE).toBe(true);
    await expect.poll(() => settings("after"), PATIENCE).toBe(settings("before"));
    agent.paste("plain");
    await expect.poll(agent.screen, PATIENCE).toMatch(/^plain$/m);
  });

  test("the end of the terminal is the end of the agent", async () => {
    const agent = await ready();
    agent.tmux(["kill-session"]);
    await agent.expectLast("session_end:SIGHUP");
  });
});
