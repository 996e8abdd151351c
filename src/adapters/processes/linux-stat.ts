import type { ProcessRow } from "./process-source.ts";

/** Indexes after the command's closing parenthesis, counted from the state as 0 (proc(5), /proc/pid/stat). */
const PARENT_PID = 1;
const THREADS = 17;
const START_TIME = 19;
const IGNORED_SIGNALS = 30;

/** SIGTERM in a bitmap of signals, where signal 1 is the lowest bit. */
const TERM_BIT = 1 << 14;

const HEAD = /^(\d+) \(/;
const NUMBER = /^\d+$/;

/**
 * Whether the state of field 3 is that of an exited process. A main thread that ended before its others
 * shows `Z` while the process lives on; then there is more than one thread.
 */
function isDead(state: string, threads: number): boolean {
  return state === "X" || state === "x" || (state === "Z" && threads <= 1);
}

/**
 * Parses `/proc/<pid>/stat`. The command between the parentheses may hold anything, spaces, newlines and
 * parentheses too, so the fields are counted from the last `)`. The start time is field 22, in clock
 * ticks since boot. Returns `undefined` for text of another form.
 */
export function parseStat(text: string): ProcessRow | undefined {
  const head = HEAD.exec(text);
  const close = text.lastIndexOf(")");
  if (head === null || close < head[0].length) return undefined;
  const fields = text.slice(close + 2).split(" ", IGNORED_SIGNALS + 1);
  const [state, parentPid, threads, startTime] = [
    fields[0],
    fields[PARENT_PID],
    fields[THREADS],
    fields[START_TIME],
  ];
  if (state === undefined || startTime === undefined || !NUMBER.test(startTime)) return undefined;
  return {
    pid: Number(head[1]),
    parentPid: Number(parentPid),
    startTime,
    dead: isDead(state, Number(threads)),
    command: text.slice(head[0].length, close),
    ignoresTerm: (Number(fields[IGNORED_SIGNALS]) & TERM_BIT) !== 0,
  };
}
