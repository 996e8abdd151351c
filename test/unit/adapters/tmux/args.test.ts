import { describe, expect, test } from "vitest";
import {
  captureArgs,
  clientArgs,
  killSessionArgs,
  listPanesArgs,
  newSessionArgs,
  pressCommand,
  typeCommand,
} from "../../../../src/adapters/tmux/args.ts";
import { launchId, sessionId } from "../../../support/builders.ts";

const session = {
  configPath: "/run/ao/tmux.conf",
  sessionId: sessionId("app-1"),
  launchId: launchId("launch-1"),
  owner: "abcd",
  workspacePath: "/work/app-1",
  scriptPath: "/data/launch/app-1/launch.sh",
};
const pane = {
  sessionId: "$3",
  paneId: "%4",
  aoSessionId: "app-1",
  launchId: "launch-1",
  serverPid: 4711,
};

/** The commands of one call, split where tmux splits them. */
function commands(argv: readonly string[]): readonly (readonly string[])[] {
  const all: string[][] = [[]];
  for (const word of argv) {
    if (word === ";") all.push([]);
    else all.at(-1)?.push(word);
  }
  return all;
}

test("every call names its socket", () => {
  expect(clientArgs("/s", ["list-panes"])).toEqual(["-u", "-S", "/s", "list-panes"]);
});

test("a look at all sessions is one call", () => {
  expect(commands(listPanesArgs()).map(([name]) => name)).toEqual(["list-panes", "display-message"]);
});

describe("newSessionArgs", () => {
  test("it starts the script, not the agent, with ao's own configuration, and marks the session", () => {
    const [create, ...then] = commands(newSessionArgs(session));
    expect(create).toEqual([
      ...["-f", "/run/ao/tmux.conf", "new-session", "-d", "-s", "app-1", "-x", "200", "-y", "50"],
      ...["-e", "AO_SESSION_ID=app-1", "-e", "AO_LAUNCH_ID=launch-1", "-c", "/work/app-1"],
      ...["--", "/bin/sh", "/data/launch/app-1/launch.sh"],
    ]);
    expect(then.slice(0, 4)).toEqual([
      ["set-option", "-t", "=app-1:", "@ao_session_id", "app-1"],
      ["set-option", "-t", "=app-1:", "@ao_launch_id", "launch-1"],
      ["set-option", "-t", "=app-1:", "@ao_owner", "abcd"],
      ["set-option", "-p", "-t", "=app-1:", "@ao_pane", "agent"],
    ]);
  });

  test.each([["/w/#(touch x)"], ["/w/#S"], ["/w/##"]])(
    "a path with a format, %s, reaches no format",
    (path) => {
      expect(newSessionArgs({ ...session, workspacePath: path }).join(" ")).not.toContain(path);
    },
  );

  test("a path that ends in a semicolon does not end the command", () => {
    const argv = newSessionArgs({ ...session, workspacePath: "/w;", scriptPath: "/l;" });
    expect(commands(argv)[0]?.slice(-4)).toEqual(["/w\\;", "--", "/bin/sh", "/l\\;"]);
  });
});

test("a session is killed only if server, session and launch are the ones that were meant", () => {
  const [command, , , , condition, kill, then, next] = killSessionArgs(pane);
  expect([command, kill, then, next]).toEqual(["if-shell", "kill-session -t $3", ";", "list-panes"]);
  expect(condition).toBe(
    "#{&&:#{==:#{pid},4711},#{&&:#{==:#{@ao_session_id},app-1},#{==:#{@ao_launch_id},launch-1}}}",
  );
});

test("the screen is read by pane id with its history", () => {
  expect(captureArgs("%4", 20)).toEqual(["capture-pane", "-p", "-J", "-t", "%4", "-S", "-20"]);
});

describe("typeCommand", () => {
  const typing = { buffers: [], flags: "-dpr", onlyBracketed: false };

  test("it pastes in order, presses Enter, and says so", () => {
    expect(typeCommand(pane, { ...typing, buffers: ["a", "b"] }).slice(-2)).toEqual([
      "paste-buffer -dpr -b a -t %4 ; paste-buffer -dpr -b b -t %4 ; send-keys -t %4 Enter ; display-message -p ao-typed",
      "delete-buffer -b a ; delete-buffer -b b",
    ]);
  });

  test("it does so only in a live pane of this launch that takes input and is in no mode", () => {
    expect(typeCommand(pane, typing)[4]).toBe(
      "#{&&:#{==:#{pid},4711},#{&&:#{==:#{@ao_session_id},app-1},#{&&:#{==:#{@ao_launch_id},launch-1},#{&&:#{==:#{pane_dead},0},#{&&:#{==:#{pane_input_off},0},#{==:#{pane_in_mode},0}}}}}}",
    );
  });

  test("it does so only while a paste is text to its program, when told to", () => {
    expect(typeCommand(pane, { ...typing, onlyBracketed: true })[4]).toContain(
      "#{&&:#{==:#{pane_in_mode},0},#{==:#{bracket_paste_flag},1}}",
    );
  });

  test("it waits between the paste and Enter for an agent that needs it, in the server", () => {
    expect(typeCommand(pane, { ...typing, buffers: ["a"], enterDelayMs: 300 })[5]).toContain(
      "paste-buffer -dpr -b a -t %4 ; run-shell -d 0.3 ; send-keys -t %4 Enter",
    );
  });

  test("a bare Enter has no buffers to take back", () => {
    expect(typeCommand(pane, typing)).toHaveLength(6);
  });
});

describe("pressCommand", () => {
  test("it leaves copy mode, presses the keys in order, and says so, in a live pane of this launch", () => {
    const [, , , , condition, press] = pressCommand(pane, ["Escape", "C-c"]);
    expect(press).toBe("copy-mode -q -t %4 ; send-keys -t %4 Escape C-c ; display-message -p ao-typed");
    const typing = typeCommand(pane, { buffers: [], flags: "", onlyBracketed: false })[4];
    expect(typing?.startsWith(condition?.slice(0, condition.indexOf("#{==:#{pane_input_off}")) ?? "?")).toBe(
      true,
    );
    expect(condition).not.toContain("pane_in_mode");
  });

  test.each([[[]], [["Escape ; kill-server"]], [["a b"]], [[""]], [["#{x}"]]])("%j names no keys", (keys) => {
    expect(() => pressCommand(pane, keys)).toThrow("not names of keys");
  });
});
