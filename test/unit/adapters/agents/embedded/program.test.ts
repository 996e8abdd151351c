import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tempDir } from "../../../../support/temp-dir.ts";
import { aPlace, bundleProgram, CONVERSATION, reported, startPiped } from "./agent-program.ts";

const FORK = "6f0c1f6e-0d5b-4b8e-9c8e-2f4f7a8b9c0d";

let folder = "";
let program = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "ao-program-"));
  program = await bundleProgram(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A started agent in a place of its own. */
function started(args?: readonly string[], place = aPlace()) {
  return { ...place, ...startPiped({ program, ...place, ...(args && { args }) }) };
}

const conversationFile = (dataDir: string, id = CONVERSATION) => join(dataDir, "embedded", `${id}.jsonl`);

describe("a session of the agent", () => {
  test("is reported from start to end, in order", async () => {
    const agent = started();
    await agent.expectReports(["session_start:startup"]);
    agent.submit("say hello");
    agent.end();
    expect(await agent.exited).toEqual({ code: 0, signal: null });
    expect(reported(agent.dataDir)).toEqual([
      "session_start:startup",
      "submit:say hello",
      "turn_end:completed",
      "session_end:end of input",
    ]);
  });

  test("outside of a session reports nothing and needs no id", async () => {
    const { cwd, dataDir } = aPlace();
    const agent = startPiped({ program, cwd, dataDir, args: [], env: { AO_SESSION_ID: "" } });
    agent.submit("say hello");
    agent.end();
    expect(await agent.exited).toEqual({ code: 0, signal: null });
    expect(agent.output()).toContain("\nhello\n");
    expect(existsSync(join(dataDir, "inbox"))).toBe(false);
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("ended by %s says so and exits with %i", async (signal, code) => {
    const agent = started();
    agent.submit("wait 60");
    await agent.expectReports(["session_start:startup", "submit:wait 60"]);
    agent.child.kill(signal);
    expect(await agent.exited).toEqual({ code, signal: null });
    expect(reported(agent.dataDir).at(-1)).toBe(`session_end:${signal}`);
  });

  test("does not start on a conversation that is in use", async () => {
    const first = started();
    await first.expectReports(["session_start:startup"]);
    const second = startPiped({ program, ...first });
    expect(await second.exited).toEqual({ code: 1, signal: null });
    expect(second.errors()).toContain(`conversation ${CONVERSATION} is already in use`);
  });

  test("does not resume a conversation that it does not know", async () => {
    const agent = started(["--resume", CONVERSATION]);
    expect(await agent.exited).toEqual({ code: 1, signal: null });
    expect(agent.errors()).toContain(`no conversation with id ${CONVERSATION}`);
  });

  test("leaves no conversation behind when its prompt cannot be read", async () => {
    const agent = started(["--session-id", CONVERSATION, "--prompt-file", "/nowhere/prompt"]);
    expect((await agent.exited).code).toBe(1);
    expect(existsSync(conversationFile(agent.dataDir))).toBe(false);
  });

  test.each([
    ["--help", 0],
    ["--version", 0],
    ["--frobnicate", 2],
  ])("%s ends at once with %i", async (flag, code) => {
    expect(await started([flag]).exited).toEqual({ code, signal: null });
  });
});

describe("a prompt", () => {
  test("from a file is one turn, whatever its lines are", async () => {
    const prompt = "Please:\n\nsay one\rsay \u001b[31mtwo\nsay three\n";
    const promptFile = join(tempDir(), "prompt");
    writeFileSync(promptFile, prompt);
    const agent = started(["--session-id", CONVERSATION, "--prompt-file", promptFile]);
    await agent.expectReports(["session_start:startup", `submit:${prompt}`, "turn_end:completed"]);
    await agent.expectOutput("one\n\\x1b[31mtwo\nthree\n");
  });

  test("in plain words is answered with what the agent is", async () => {
    const agent = started();
    agent.submit("Fix the login redirect");
    await agent.expectOutput("I am the embedded agent of ao");
    await agent.expectReports([
      "session_start:startup",
      "submit:Fix the login redirect",
      "turn_end:completed",
    ]);
  });

  test("of three pasted lines is one submission", async () => {
    const agent = started();
    agent.type("\x1b[200~say one\nsay two\nsay three\x1b[201~\r");
    await agent.expectReports([
      "session_start:startup",
      "submit:say one\nsay two\nsay three",
      "turn_end:completed",
    ]);
  });

  test("in two adjacent pastes, cut inside of an end mark, is one submission", async () => {
    const agent = started();
    agent.type("\x1b[200~say x\x1b\x1b[201~\x1b[200~[201~y\x1b[201~");
    agent.type("\r");
    await agent.expectReports(["session_start:startup", "submit:say x\x1b[201~y", "turn_end:completed"]);
  });

  test("that comes while a turn runs is a turn of its own afterwards, in order", async () => {
    const agent = started();
    agent.submit("wait 0.2");
    agent.submit("say one");
    agent.submit("say two");
    await agent.expectReports([
      "session_start:startup",
      "submit:wait 0.2",
      "turn_end:completed",
      "submit:say one",
      "turn_end:completed",
      "submit:say two",
      "turn_end:completed",
    ]);
  });

  test("that cannot be recorded is not acknowledged", async () => {
    const place = aPlace();
    const agent = startPiped({ program, ...place, wrapper: ["sh", "-c", 'ulimit -f 8; exec "$@"', "sh"] });
    agent.submit(`say ${"x".repeat(20_000)}`);
    await agent.expectReports(["session_start:startup", "turn_end:failed"]);
  });
});

describe("a question", () => {
  test("waits for the next message, which is its answer and a receipt", async () => {
    const agent = started();
    agent.submit("ask which colour?\nsay done");
    const asked = ["session_start:startup", "submit:ask which colour?\nsay done", "waiting:which colour?"];
    await agent.expectReports(asked);
    agent.submit("blue");
    await agent.expectReports([...asked, "submit:blue", "resumed:which colour?", "turn_end:completed"]);
    await agent.expectOutput("answer: blue\ndone\n");
  });

  test("is not answered by a message that waited already", async () => {
    const agent = started();
    agent.submit("wait 0.2\nask why?");
    agent.submit("say early");
    await agent.expectOutput("question: why?");
    agent.submit("because");
    await agent.expectOutput("answer: because");
    await agent.expectOutput("\nearly\n");
  });

  test("that nobody can answer any more fails", async () => {
    const agent = started();
    agent.submit("ask why?");
    await agent.expectOutput("question: why?");
    agent.end();
    expect((await agent.exited).code).toBe(0);
    expect(reported(agent.dataDir)).toContain("turn_end:failed");
  });
});

describe("a turn", () => {
  test.each([
    ["escape", "\x1b", "wait 60"],
    ["ctrl-c", "\x03", "wait 60"],
    ["escape", "\x1b", "ask why?"],
  ])("is interrupted by %s (%j) in `%s`", async (_key, bytes, prompt) => {
    const agent = started();
    agent.submit(prompt);
    await agent.expectOutput("working…");
    agent.type(bytes);
    await agent.expectLast("turn_end:interrupted");
    agent.submit("say still here");
    await agent.expectOutput("\nstill here\n");
  });

  test.each([
    ["fail out of luck", "out of luck"],
    ["delete nothing.txt", "ENOENT"],
    ["write ../out.txt x", "outside of the working directory"],
    ["write link/out.txt x", "outside of the working directory"],
    ["commit x", "not a git repository"],
  ])("fails by `%s`, and does no step after that", async (step, error) => {
    const place = aPlace();
    symlinkSync("..", join(place.cwd, "link"));
    const agent = started(undefined, place);
    agent.submit(`write a.txt x\n${step}\nsay unreached`);
    await agent.expectLast("turn_end:failed");
    await agent.expectOutput(error);
    expect(agent.output()).not.toContain("\nunreached\n");
    expect(existsSync(join(place.cwd, "..", "out.txt"))).toBe(false);
  });

  test("edits files", async () => {
    const agent = started();
    agent.submit("write a/b.txt one\\ntwo\nappend a/b.txt three\nwrite gone.txt x\ndelete gone.txt");
    await agent.expectOutput("completed");
    expect(readFileSync(join(agent.cwd, "a/b.txt"), "utf8")).toBe("one\ntwo\nthree\n");
    expect(existsSync(join(agent.cwd, "gone.txt"))).toBe(false);
  });

  test("may end the agent with an exit code", async () => {
    const agent = started();
    agent.submit("exit 7");
    expect(await agent.exited).toEqual({ code: 7, signal: null });
    expect(reported(agent.dataDir).slice(-2)).toEqual(["turn_end:completed", "session_end:exit"]);
  });

  test("may start a process that outlives the agent, in a group of its own", async () => {
    const agent = started();
    agent.submit("background 60\nexit");
    await agent.exited;
    const pid = Number(/background process (\d+)/.exec(agent.output())?.[1]);
    const group = execFileSync("ps", ["-o", "pgid=", "-p", String(pid)], { encoding: "utf8" });
    process.kill(pid, "SIGKILL");
    expect(Number(group)).toBe(pid);
  });
});

describe("keys at rest", () => {
  test.each([
    ["ctrl-c", "\x03"],
    ["ctrl-d", "\x04"],
    ["ctrl-c after it cleared the line", "draft\x03\x03"],
  ])("%s leaves", async (_key, bytes) => {
    const agent = started();
    await agent.expectReports(["session_start:startup"]);
    agent.type(bytes);
    expect(await agent.exited).toEqual({ code: 0, signal: null });
    expect(reported(agent.dataDir)).toEqual(["session_start:startup", "session_end:user"]);
  });

  test("enter on an empty line, and escape, do nothing", async () => {
    const agent = started();
    agent.type("\r\x1bx\x7f\rsay hello\r");
    await agent.expectReports(["session_start:startup", "submit:say hello", "turn_end:completed"]);
  });
});

describe("a conversation", () => {
  test("goes on after SIGKILL with all that was acknowledged", async () => {
    const first = started();
    first.submit("say one");
    first.submit("say two\nwait 60");
    await first.expectReports([
      "session_start:startup",
      "submit:say one",
      "turn_end:completed",
      "submit:say two\nwait 60",
    ]);
    first.child.kill("SIGKILL");
    expect((await first.exited).signal).toBe("SIGKILL");

    const second = startPiped({ program, ...first, args: ["--resume", CONVERSATION] });
    second.submit("recall");
    await second.expectOutput("the last turn was cut off");
    await second.expectOutput('recall 1: "say one"\nrecall 2: "say two\\nwait 60"\ncompleted');
    await second.expectLast("turn_end:completed");
    expect(reported(first.dataDir)).toContain("session_start:resume");
  });

  test("kills the agent by `crash`, without a word", async () => {
    const agent = started();
    agent.submit("crash");
    expect(await agent.exited).toEqual({ code: null, signal: "SIGKILL" });
    expect(reported(agent.dataDir)).toEqual(["session_start:startup", "submit:crash"]);
  });

  test("is forked into a new one that remembers, and keeps its own file byte for byte", async () => {
    const parent = started();
    parent.submit("say one");
    parent.end();
    await parent.exited;
    const before = readFileSync(conversationFile(parent.dataDir));

    const args = ["--resume", CONVERSATION, "--fork", "--session-id", FORK];
    const fork = startPiped({ program, ...parent, args });
    fork.submit("recall");
    await fork.expectOutput('recall 1: "say one"');
    expect(readFileSync(conversationFile(parent.dataDir))).toEqual(before);
    expect(existsSync(conversationFile(parent.dataDir, FORK))).toBe(true);
    expect(reported(parent.dataDir)).toContain("session_start:fork");
  });

  test("takes in what stands on a pipe without an enter", async () => {
    const agent = started();
    agent.type("say one\nsay two\n");
    agent.end();
    await agent.exited;
    expect(reported(agent.dataDir)).toContain("submit:say one\nsay two\n");
  });
});
