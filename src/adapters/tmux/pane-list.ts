import { constants } from "node:os";

/** One pane of a server, as tmux lists it. */
export interface PaneRow {
  readonly sessionId: string;
  readonly paneId: string;
  readonly serverPid: number;
  readonly panePid: number;
  readonly dead: boolean;
  /** `null` until tmux has learnt it, which may be a moment after `dead`. */
  readonly exitStatus: number | null;
  readonly signal: string | null;
  /** When its process ended; `null` while it runs, and from a tmux before 3.3. */
  readonly diedAtMs: number | null;
  readonly lastOutputAtMs: number | null;
  readonly inputOff: boolean;
  /** Whether its program takes a paste as text; `null` from a tmux before 3.7. */
  readonly bracketedPaste: boolean | null;
  /** When its session was made. */
  readonly createdAtMs: number;
  /** The marks of a session that `ao` made; empty for any other. */
  readonly launchId: string;
  readonly aoSessionId: string;
  /** Tells the data directory that it belongs to. */
  readonly owner: string;
  /** It is the agent's own, not one that a person opened in its session. */
  readonly isAgents: boolean;
}

export interface PaneList {
  readonly serverPid: number;
  /** Version of the server, which is the one that carries commands out. */
  readonly serverVersion: string;
  readonly panes: readonly PaneRow[];
}

/** Whether tmux has told how the pane's process ended. */
export function hasEnding({ exitStatus, signal }: PaneRow): boolean {
  return exitStatus !== null || signal !== null;
}

const FIELDS = [
  "session_id",
  "pane_id",
  "pid",
  "pane_pid",
  "pane_dead",
  "pane_dead_status",
  "pane_dead_signal",
  "pane_dead_time",
  "window_activity",
  "pane_input_off",
  "bracket_paste_flag",
  "session_created",
  "@ao_launch_id",
  "@ao_session_id",
  "@ao_owner",
  "@ao_pane",
];

const SERVER_LINE = "ao-server";

/** One line a pane; none of the fields can hold a tab or a newline (tmux(1), FORMATS). */
export const PANE_FORMAT = FIELDS.map((field) => `#{${field}}`).join("\t");

/** The line that ends a complete answer. */
export const SERVER_FORMAT = `${SERVER_LINE}\t#{pid}\t#{version}`;

/** A signal as tmux names it: by number in 3.3a on Linux, elsewhere by name with or without `SIG`. */
function signalName(text: string): string | null {
  if (text === "") return null;
  const byNumber = Object.entries(constants.signals).find(([, number]) => String(number) === text)?.[0];
  const name = byNumber ?? text.toUpperCase();
  return name.startsWith("SIG") ? name : `SIG${name}`;
}

function milliseconds(seconds: string | undefined): number | null {
  const whole = wholeNumber(seconds);
  return whole === null ? null : whole * 1000;
}

function flag(text: string | undefined): boolean | null {
  if (text === "1") return true;
  return text === "0" ? false : null;
}

function wholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : null;
}

function parsePane(line: string): PaneRow | undefined {
  const fields = line.split("\t");
  const [sessionId, paneId, server, pane, dead, status, signal, died, ...more] = fields;
  const [activity, inputOff, bracketed, created, launchId, aoSessionId, owner, paneMark] = more;
  const serverPid = wholeNumber(server);
  const panePid = wholeNumber(pane);
  const isWhole = fields.length === FIELDS.length && sessionId !== undefined && paneId !== undefined;
  if (!isWhole || serverPid === null || panePid === null) return undefined;
  return {
    sessionId,
    paneId,
    serverPid,
    panePid,
    dead: dead === "1",
    exitStatus: wholeNumber(status),
    signal: signalName(signal ?? ""),
    diedAtMs: milliseconds(died),
    lastOutputAtMs: milliseconds(activity),
    inputOff: inputOff === "1",
    bracketedPaste: flag(bracketed),
    createdAtMs: milliseconds(created) ?? 0,
    launchId: launchId ?? "",
    aoSessionId: aoSessionId ?? "",
    owner: owner ?? "",
    isAgents: paneMark === "agent",
  };
}

/**
 * Parses an answer to `listPanesArgs`. Returns `undefined` unless every line is as it should be and the
 * server's own line ends it: half an answer says nothing about the sessions it leaves out.
 */
export function parsePaneList(output: string): PaneList | undefined {
  const lines = output.replace(/\n$/, "").split("\n");
  const [word, pid, serverVersion] = lines.pop()?.split("\t") ?? [];
  const serverPid = wholeNumber(pid);
  if (word !== SERVER_LINE || serverPid === null || serverVersion === undefined) return undefined;
  const panes = lines.map(parsePane).filter((pane) => pane !== undefined);
  return panes.length === lines.length ? { serverPid, serverVersion, panes } : undefined;
}
