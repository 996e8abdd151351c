import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { classifyRefusal, serverEnvironment, tmuxRunner } from "../../../../src/adapters/tmux/run-tmux.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { fakeTmux, isRunning } from "../../../support/tmux-server.ts";

test.each([
  ["no server running on /tmp/s", "no_server"],
  ["can't find pane: %99", "not_found"],
  ["can't find session: $9", "not_found"],
  ["error connecting to /tmp/s (No such file or directory)", "no_server"],
  ["error connecting to /tmp/s (Connection refused)", "no_server"],
  ["error connecting to /tmp/s (Permission denied)", "other"],
  ["error connecting to /tmp/s (File name too long)", "other"],
  ["error connecting to /tmp/s (Resource temporarily unavailable)", "other"],
  ["lost server", "server_lost"],
  ["server exited unexpectedly", "server_lost"],
  ["server exited", "server_lost"],
  ["no current target", "server_lost"],
  ["duplicate session: app-1", "duplicate_session"],
  ["protocol version mismatch (client 8, server 7)", "other"],
  ["command too long", "other"],
])("%j is %s", (stderr, refusal) => {
  expect(classifyRefusal(`${stderr}\n`)).toBe(refusal);
});

test("the server gets no secrets, no other tmux and a UTF-8 locale", () => {
  const env = {
    PATH: "/bin",
    HOME: "/h",
    API_KEY: "s",
    TMUX: "/x,1,0",
    TMUX_TMPDIR: "/y",
    AO_LAUNCH_ID: "z",
    LC_ALL: "POSIX",
  };
  expect(serverEnvironment(env)).toEqual({ PATH: "/bin", HOME: "/h", LC_ALL: "C.UTF-8" });
});

describe("tmuxRunner", () => {
  const run = (script: string, timeoutMs = 5000) =>
    tmuxRunner({ tmuxPath: fakeTmux(script), timeoutMs })("/nowhere", ["list-panes"]);

  test.each([
    ["the answer", "echo answer", { kind: "ok", stdout: "answer\n" }],
    [
      "a refusal",
      "echo 'lost server' >&2; exit 1",
      { kind: "refused", refusal: "server_lost", message: "lost server" },
    ],
    ["a failure without words", "exit 3", { kind: "failed" }],
    ["a crash", "kill -9 $$", { kind: "failed" }],
  ])("%s is passed on", async (_name, script, expected) => {
    expect(await run(script)).toMatchObject(expected);
  });

  test.each([
    ["hangs", "exec sleep 60"],
    ["hangs and does not listen to TERM", "trap '' TERM; while :; do sleep 0.1; done"],
  ])("a tmux that %s is given up after the timeout", async (_name, script) => {
    expect(await run(script, 200)).toEqual({ kind: "failed", cause: "tmux did not answer within 200 ms" });
  });

  test("a tmux that hangs with a child that holds its output is not waited for", async () => {
    const pidFile = join(tempDir(), "pid");
    const answer = await run(`sleep 300 & echo $! >'${pidFile}'; wait`, 2000);
    expect(answer).toEqual({ kind: "failed", cause: "tmux did not answer within 2000 ms" });
    const child = Number(readFileSync(pidFile, "utf8"));
    expect(isRunning(child)).toBe(true);
    process.kill(child, "SIGKILL");
  });

  test("a tmux that is not there is told apart", async () => {
    const nowhere = { env: { PATH: "/nonexistent" } };
    expect(await tmuxRunner(nowhere)("/nowhere", ["list-panes"])).toMatchObject({ kind: "missing" });
    expect(await tmuxRunner({ tmuxPath: "/nonexistent/tmux" })("/n", [])).toMatchObject({ kind: "missing" });
  });

  test("it runs with the socket that was named, and in no one's working directory", async () => {
    const answer = await run('echo "$@"; pwd; env');
    expect(answer).toMatchObject({
      kind: "ok",
      stdout: expect.stringMatching(/^-u -S \/nowhere list-panes\n\/\n/),
    });
  });
});
