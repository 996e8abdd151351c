import type { EnvMarker } from "../../ports/process-table.ts";
import type { ProcessRow } from "./process-source.ts";

/** pid, ppid, stat, lstart (five words in the C locale), ucomm. */
const PS_ROW = /^ *(\d+) +(\d+) +(\S+) +(\S+ +\S+ +\d+ +[\d:]+ +\d+) +(.*)$/;
const PS_COMMAND = /^ *(\d+) +(.*)$/;
const LSOF_ESCAPE = /\\(?:x([0-9a-f]{2})|(.))/g;
const CONTROLS: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/**
 * Parses `ps -axww -o pid= -o ppid= -o stat= -o lstart= -o ucomm=`, ps(1) of macOS 14, with `LC_ALL=C`
 * and `TZ=UTC0` so that a start time reads the same in every terminal. Lines of another form are left out.
 */
export function parsePsRows(output: string): readonly ProcessRow[] {
  return output.split("\n").flatMap((line): ProcessRow[] => {
    const [, pid, parentPid, state, started, command] = PS_ROW.exec(line) ?? [];
    if (pid === undefined || state === undefined || started === undefined) return [];
    return [
      {
        pid: Number(pid),
        parentPid: Number(parentPid),
        startTime: started.replace(/ +/g, " "),
        dead: state.startsWith("Z"),
        command: command ?? "",
      },
    ];
  });
}

/**
 * The pids of `ps -axwwE -o pid= -o command=` whose line holds each `name=value` as a whole word; with `-E`
 * the environment follows the arguments, which this cannot tell apart.
 */
export function parseMarkedPids(output: string, markers: readonly EnvMarker[]): ReadonlySet<number> {
  const pids = output.split("\n").flatMap((line): number[] => {
    const [, pid, words] = PS_COMMAND.exec(line) ?? [];
    if (pid === undefined) return [];
    const isMarked = markers.every(({ name, value }) => ` ${words} `.includes(` ${name}=${value} `));
    return isMarked ? [Number(pid)] : [];
  });
  return new Set(pids);
}

/** lsof(8) OUTPUT: unprintable bytes are shown as `\xHH` or a C escape, a backslash as two. */
function unescapeName(text: string): string {
  return Buffer.from(
    text.replace(LSOF_ESCAPE, (_all, hex: string | undefined, letter: string | undefined) =>
      hex === undefined
        ? (CONTROLS[letter ?? ""] ?? letter ?? "")
        : String.fromCharCode(Number.parseInt(hex, 16)),
    ),
    "latin1",
  ).toString("utf8");
}

/**
 * Parses `lsof -w -n -P -F pn` into paths by pid: working directory, program, open and mapped files. The
 * names of sockets, pipes and the like are no paths and are left out.
 */
export function parseLsofPaths(output: string): ReadonlyMap<number, readonly string[]> {
  const paths = new Map<number, string[]>();
  let ofProcess: string[] = [];
  for (const line of output.split("\n")) {
    if (line.startsWith("p")) {
      ofProcess = [];
      paths.set(Number(line.slice(1)), ofProcess);
    } else if (line.startsWith("n/")) ofProcess.push(unescapeName(line.slice(1)));
  }
  return paths;
}
