import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fileInbox } from "../../../src/adapters/inbox/file-inbox.ts";
import { HOOK_SCRIPT } from "../../../src/domain/hook-script.ts";
import { tempDir } from "../../support/temp-dir.ts";

const SHELLS: readonly (readonly [name: string, argv: readonly string[]])[] = [
  ["sh", ["sh"]],
  ["bash in POSIX mode", ["bash", "--posix"]],
];

/** A shell and a cat have to start first. */
const PATIENCE = { timeout: 20_000, interval: 20 };

function aHook(argv: readonly string[] = ["sh"]) {
  const dataDir = join(tempDir(), "data dir 'x' $y");
  mkdirSync(dataDir);
  const script = join(dataDir, "hook");
  writeFileSync(script, HOOK_SCRIPT);
  const env = {
    PATH: process.env["PATH"] ?? "",
    AO_SESSION_ID: "app-7",
    AO_LAUNCH_ID: "launch-1",
    AO_DATA_DIR: dataDir,
  };
  const [shell = "sh", ...flags] = argv;
  const args = (agent: string, event: string) => [...flags, script, agent, event];
  const run = (input: string | Buffer, patch: NodeJS.ProcessEnv = {}, event = "Stop") =>
    spawnSync(shell, args("claude-code", event), { input, env: { ...env, ...patch }, cwd: dataDir });
  return { dataDir, env, shell, args, run, inbox: fileInbox({ dir: join(dataDir, "inbox") }) };
}

const filesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);

const bodies = ["", '{"a":"b"}\n', "\n\nao-hook 1\nsession x-1\n\n", "x".repeat(1024 * 1024)];

describe.each(SHELLS)("the hook script in %s", (_name, argv) => {
  test("leaves an event with what it was given, private, and says nothing", async () => {
    const { inbox, run, dataDir } = aHook(argv);
    for (const body of bodies) {
      const { status, stdout, stderr } = run(body);
      expect([status, String(stdout), String(stderr)]).toEqual([0, "", ""]);
    }
    const events = await inbox.pending();
    expect(events.map((event) => event.body).sort()).toEqual([...bodies].sort());
    const [first] = events;
    expect(first).toMatchObject({
      ...{ sessionId: "app-7", launchId: "launch-1", agent: "claude-code", event: "Stop" },
    });
    expect(Math.abs(Date.now() - (first?.atMs ?? 0))).toBeLessThan(60_000);
    const ready = join(dataDir, "inbox", "new");
    expect(statSync(ready).mode & 0o777).toBe(0o700);
    expect(statSync(join(ready, first?.id ?? "")).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(dataDir, "inbox"))).toEqual(["new"]);
  });

  test("takes bytes that are no text as they are, in any locale", () => {
    const { run, dataDir } = aHook(argv);
    const bytes = Buffer.from([...Array(256).keys()]);
    run(bytes, { LC_ALL: "C.UTF-8" });
    run(bytes, { LC_ALL: "C" });
    const ready = join(dataDir, "inbox", "new");
    const whole = readdirSync(ready).map((name) => [name, readFileSync(join(ready, name))] as const);
    for (const [name, file] of whole) {
      expect(file.subarray(file.indexOf("\n\n") + 2)).toEqual(
        Buffer.concat([bytes, Buffer.from(`\nend ${name}\n`)]),
      );
    }
    expect(whole).toHaveLength(2);
  });

  test("ends with 0 and leaves nothing when the disk takes only a part of the event", async () => {
    const { env, shell, args, inbox, dataDir } = aHook(argv);
    const limited = ["-c", 'ulimit -f "$1"; shift; exec "$@"', "sh"];
    for (const blocks of ["0", "4"]) {
      const ran = spawnSync("sh", [...limited, blocks, shell, ...args("codex", "Stop")], {
        ...{ env, input: "x".repeat(64 * 1024) },
      });
      expect([ran.status, String(ran.stdout), String(ran.stderr)]).toEqual([0, "", ""]);
    }
    expect(await inbox.pending()).toEqual([]);
    expect(readdirSync(join(dataDir, "inbox", "new"))).toEqual([]);
  });

  test.each(["the shell", "the cat"])("what it wrote when %s is killed is no event", async (victim) => {
    const { env, shell, args, inbox } = aHook(argv);
    const child = spawn(shell, args("codex", "Stop"), { env, stdio: ["pipe", "ignore", "ignore"] });
    const ended = new Promise((done) => child.on("close", done));
    const ready = join(env.AO_DATA_DIR, "inbox", "new");
    const written = () => filesIn(ready).map((name) => readFileSync(join(ready, name), "utf8"));
    child.stdin.write('{"half');
    await expect.poll(written, PATIENCE).toEqual([expect.stringContaining('{"half')]);
    expect(await inbox.pending()).toEqual([]);
    const cat = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim();
    process.kill(victim === "the shell" ? (child.pid ?? 0) : Number(cat), "SIGKILL");
    child.stdin.end('"}');
    await ended;
    expect(await inbox.pending()).toEqual([]);
    expect(await inbox.tidy(Date.now())).toBe(0);
    expect(await inbox.tidy(Date.now() + 25 * 3_600_000)).toBe(victim === "the shell" ? 1 : 0);
  });

  test.each([
    ["the session", { AO_SESSION_ID: "" }],
    ["the launch", { AO_LAUNCH_ID: "" }],
    ["the data directory", { AO_DATA_DIR: "" }],
    ["the event", { event: "" }],
  ])("does nothing without %s", (_what, { event, ...patch }: NodeJS.ProcessEnv) => {
    const { run, dataDir } = aHook(argv);
    const { status, stdout, stderr } = run("{}", patch, event);
    expect([status, String(stdout), String(stderr)]).toEqual([0, "", ""]);
    expect(existsSync(join(dataDir, "inbox"))).toBe(false);
  });

  test("does not bring a removed data directory back", () => {
    const { run, dataDir } = aHook(argv);
    const gone = `${dataDir}-gone`;
    expect(run("{}", { AO_DATA_DIR: gone }).status).toBe(0);
    expect(existsSync(gone)).toBe(false);
  });

  test("ends with 0 and leaves no draft when the inbox cannot be written", () => {
    const { run, dataDir } = aHook(argv);
    writeFileSync(join(dataDir, "inbox"), "");
    const { status, stdout, stderr } = run("{}");
    expect([status, String(stdout), String(stderr)]).toEqual([0, "", ""]);
    rmSync(join(dataDir, "inbox"));
    mkdirSync(join(dataDir, "inbox"));
    writeFileSync(join(dataDir, "inbox", "new"), "");
    expect(run("{}").status).toBe(0);
  });

  test("with no standard input at all still leaves the event", async () => {
    const { env, shell, args, inbox, dataDir } = aHook(argv);
    const closed = ["-c", '"$@" <&-', "sh", shell, ...args("codex", "Stop")];
    expect(spawnSync("sh", closed, { env, cwd: dataDir }).status).toBe(0);
    expect((await inbox.pending()).map(({ body }) => body)).toEqual([""]);
  });

  test("50 at once leave 50 events", async () => {
    const { env, shell, args, inbox } = aHook(argv);
    const codes = Array.from(
      { length: 50 },
      (_, index) =>
        new Promise<number | null>((done) => {
          const child = spawn(shell, args("codex", `Tool${index}`), {
            env,
            stdio: ["pipe", "ignore", "ignore"],
          });
          child.on("close", done);
          child.stdin.end(String(index));
        }),
    );
    expect(new Set(await Promise.all(codes))).toEqual(new Set([0]));
    const events = await inbox.pending();
    expect(new Set(events.map(({ event, body }) => event === `Tool${body}`))).toEqual(new Set([true]));
    expect(events).toHaveLength(50);
  });
});

test("the hook script never writes over an event that waits under the name it would take", async () => {
  const { env, shell, args, inbox, dataDir } = aHook();
  // With exec the script has the pid of the shell before it, which put a file where it will look.
  const taken = 'f=$1/$AO_LAUNCH_ID-$PPID-$$; shift; : >"$f-0"; : >"$f-1"; exec "$@"';
  const ready = join(dataDir, "inbox", "new");
  mkdirSync(ready, { recursive: true });
  spawnSync("sh", ["-c", taken, "sh", ready, shell, ...args("codex", "Stop")], { env, input: "body" });
  expect(readdirSync(ready)).toHaveLength(3);
  expect((await inbox.pending()).map(({ id, body }) => [id.at(-1), body])).toEqual([["2", "body"]]);
});

test("a signal does not stop the hook script half way", async () => {
  const { env, args, inbox } = aHook();
  const child = spawn("sh", args("codex", "Stop"), { env, stdio: ["pipe", "ignore", "ignore"] });
  const ended = new Promise<number | null>((done) => child.on("close", done));
  const ready = join(env.AO_DATA_DIR, "inbox", "new");
  const written = () => filesIn(ready).map((name) => readFileSync(join(ready, name), "utf8"));
  await expect.poll(written, PATIENCE).toEqual([expect.stringMatching(/\n\n$/)]);
  child.kill("SIGTERM");
  child.kill("SIGHUP");
  child.stdin.end("whole");
  expect(await ended).toBe(0);
  expect((await inbox.pending()).map(({ body }) => body)).toEqual(["whole"]);
});
