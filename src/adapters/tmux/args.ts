import type { LaunchId, SessionId } from "../../domain/ids.ts";
import { PANE_FORMAT, SERVER_FORMAT } from "./pane-list.ts";

/** Size of a terminal that nobody looks at: wide enough that no agent wraps or shortens its screen. */
const DETACHED_COLUMNS = 200;
const DETACHED_ROWS = 50;

/** Ends one command and begins the next within one call of tmux, as an argument of its own. */
const THEN = ";";

/** tmux reads a `;` at the end of any argument as its command separator (tmux(1), COMMAND PARSING). */
function literal(argument: string): string {
  return argument.replace(/;$/, "\\;");
}

/** Global flags before the command: UTF-8, and the one socket that is meant. */
export function clientArgs(socketPath: string, command: readonly string[]): string[] {
  return ["-u", "-S", socketPath, ...command];
}

/**
 * Every pane of the server, then one line of the server itself, by which a complete answer is known. Starts
 * no server.
 */
export function listPanesArgs(): string[] {
  return ["list-panes", "-a", "-F", PANE_FORMAT, THEN, "display-message", "-p", SERVER_FORMAT];
}

export interface NewSession {
  /** Of the server that is started when there is none; `null` to start none. */
  readonly configPath: string | null;
  readonly sessionId: SessionId;
  readonly launchId: LaunchId;
  /** Tells the data directory; hexadecimal. */
  readonly owner: string;
  readonly workspacePath: string;
  readonly scriptPath: string;
}

/**
 * Starts the launch script in a new detached session, and the server with `ao`'s own configuration when
 * there is none and it may (tmux(1), -N, from 3.2 on); prints its pane as `listPanesArgs` does.
 *
 * Session, launch and owner are options of the tmux session, by which it is known later, and its one pane is
 * marked as the agent's, to be told from those that a person opens beside it; session
 * and launch id are in the environment of all its windows as well, by which their processes are known. Nothing
 * here comes from a user but the path: `-c` is a format, so a path with `#` is left out; the script goes there itself.
 */
export function newSessionArgs(session: NewSession): string[] {
  const { configPath, sessionId, launchId, owner, workspacePath, scriptPath } = session;
  const target = `=${sessionId}:`;
  const directory = workspacePath.includes("#") ? [] : ["-c", literal(workspacePath)];
  return [
    ...(configPath === null ? ["-N"] : ["-f", configPath]),
    ...["new-session", "-d", "-s", sessionId],
    ...["-x", String(DETACHED_COLUMNS), "-y", String(DETACHED_ROWS)],
    ...["-e", `AO_SESSION_ID=${sessionId}`, "-e", `AO_LAUNCH_ID=${launchId}`, ...directory],
    ...["--", "/bin/sh", literal(scriptPath), THEN],
    ...["set-option", "-t", target, "@ao_session_id", sessionId, THEN],
    ...["set-option", "-t", target, "@ao_launch_id", launchId, THEN],
    ...["set-option", "-t", target, "@ao_owner", owner, THEN],
    ...["set-option", "-p", "-t", target, "@ao_pane", "agent", THEN],
    ...["list-panes", "-t", target, "-F", PANE_FORMAT, THEN, "display-message", "-p", SERVER_FORMAT],
  ];
}

/** A pane together with what proves that it is still the one that was meant. */
export interface PaneRef {
  readonly sessionId: string;
  readonly paneId: string;
  readonly aoSessionId: string;
  readonly launchId: string;
  readonly serverPid: number;
}

/** A format that is true only inside the very server and launch; `extra` are formats that must be true too. */
function isStillIt(pane: PaneRef, ...extra: readonly string[]): string {
  const tests = [
    `#{==:#{pid},${pane.serverPid}}`,
    `#{==:#{@ao_session_id},${pane.aoSessionId}}`,
    `#{==:#{@ao_launch_id},${pane.launchId}}`,
    ...extra,
  ];
  return tests.reduceRight((all, test) => `#{&&:${test},${all}}`);
}

/**
 * Ends the session unless its id belongs to another by now; both are one step for the server. Then prints the panes
 * that are left, as `listPanesArgs` does (tmux 3.3a: nothing when it was the last session, with which the server ends).
 */
export function killSessionArgs(pane: PaneRef): string[] {
  const kill = ["if-shell", "-F", "-t", pane.paneId, isStillIt(pane), `kill-session -t ${pane.sessionId}`];
  return [...kill, THEN, ...listPanesArgs()];
}

/** Every session of the server with the folder in which it was begun, a line each. */
export function sessionPathsArgs(): string[] {
  return ["list-sessions", "-F", "#{session_id} #{session_path}"];
}

/** The screen and `lines` lines of history above it, wrapped lines joined. */
export function captureArgs(paneId: string, lines: number): string[] {
  return ["capture-pane", "-p", "-J", "-t", paneId, "-S", `-${lines}`];
}

/**
 * What several panes show, each followed by a line with `mark` and its place among them, from 0; ends with the first
 * that is gone. Not with its id: tmux has strftime expand what it prints, which makes `%3` a padded one (3.3a).
 */
export function screensArgs(paneIds: readonly string[], mark: string): string[] {
  return paneIds.flatMap((paneId, index) => [
    ...(index === 0 ? [] : [THEN]),
    ...["capture-pane", "-p", "-J", "-t", paneId, THEN],
    ...["display-message", "-p", `${mark} ${index}`],
  ]);
}

/**
 * Has the server start a child of its own that ends at once. tmux 3.3a now and then misses the death of an
 * agent that dies while the server is still starting; at the next death it waits for every dead child.
 */
export function reapArgs(): string[] {
  return ["run-shell", ":"];
}

/** What `typeCommand` prints when it typed. */
export const TYPED = "ao-typed";

export interface Pasting {
  /** In the order in which they are pasted. */
  readonly buffers: readonly string[];
  /** Of `paste-buffer`. */
  readonly flags: string;
  /** Only while the pane's program takes a paste as text; for a tmux that tells (3.7 and later). */
  readonly onlyBracketed: boolean;
  /** Between the paste and Enter, in milliseconds; none when absent. Other calls may come in between then. */
  readonly enterDelayMs?: number;
}

/**
 * One command that, as one step for the server, looks whether the pane still is the one that was meant and
 * takes input and is in no mode, as while a person scrolls, pastes the buffers in order and presses Enter. It prints
 * `TYPED` then, and types nothing else. The buffers are gone afterwards in both cases.
 */
export function typeCommand(pane: PaneRef, pasting: Pasting): string[] {
  const { buffers, flags, onlyBracketed, enterDelayMs = 0 } = pasting;
  const asPaste = onlyBracketed ? ["#{==:#{bracket_paste_flag},1}"] : [];
  const isFree = ["#{==:#{pane_dead},0}", "#{==:#{pane_input_off},0}", "#{==:#{pane_in_mode},0}"];
  const takesInput = isStillIt(pane, ...isFree, ...asPaste);
  const type = [
    ...buffers.map((buffer) => `paste-buffer ${flags} -b ${buffer} -t ${pane.paneId}`),
    ...(enterDelayMs > 0 ? [`run-shell -d ${enterDelayMs / 1000}`] : []),
    `send-keys -t ${pane.paneId} Enter`,
    `display-message -p ${TYPED}`,
  ];
  const refuse = buffers.map((buffer) => `delete-buffer -b ${buffer}`);
  const otherwise = refuse.length === 0 ? [] : [refuse.join(" ; ")];
  return ["if-shell", "-F", "-t", pane.paneId, takesInput, type.join(" ; "), ...otherwise];
}

/** Prints in how many modes a pane is: copy mode, a clock, a choice; `0` in none. */
export function modeArgs(paneId: string): string[] {
  return ["display-message", "-p", "-t", paneId, "#{pane_in_mode}"];
}

const KEY_NAME = /^[A-Za-z0-9-]+$/;

/**
 * As `typeCommand`, but presses keys by their names, and leaves copy mode for that: who stops a turn means it now.
 *
 * @throws Error when a name is none.
 */
export function pressCommand(pane: PaneRef, keys: readonly string[]): string[] {
  if (keys.length === 0 || !keys.every((key) => KEY_NAME.test(key))) {
    throw new Error(`not names of keys: ${JSON.stringify(keys)}`);
  }
  const takesInput = isStillIt(pane, "#{==:#{pane_dead},0}", "#{==:#{pane_input_off},0}");
  const press = [
    `copy-mode -q -t ${pane.paneId}`,
    `send-keys -t ${pane.paneId} ${keys.join(" ")}`,
    `display-message -p ${TYPED}`,
  ];
  return ["if-shell", "-F", "-t", pane.paneId, takesInput, press.join(" ; ")];
}
