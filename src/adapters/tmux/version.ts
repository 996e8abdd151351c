/** A tmux version, comparable by its two numbers. */
export interface TmuxVersion {
  /** As tmux says it, for example `3.3a` or `next-3.6`. */
  readonly text: string;
  readonly major: number;
  readonly minor: number;
}

/** The oldest version that has all that is used: `new-session -e` came with 3.2 (CHANGES of tmux). */
export const OLDEST_TMUX = "3.2";

const NUMBERED = /^(?:next-)?(\d+)\.(\d+)/;
/** The tmux of OpenBSD carries the system's version; from 6.9 on it is a 3.2 or later. */
const OPENBSD = /^openbsd-(\d+)\.(\d+)/;

/**
 * Parses what `tmux -V` prints (`tmux 3.3a`) or the format `#{version}` (`3.3a`). A build from the
 * development branch calls itself `next-3.6` or `master`. Returns `undefined` for any other text.
 */
export function parseTmuxVersion(output: string): TmuxVersion | undefined {
  const text = output.trim().replace(/^tmux /, "");
  if (text === "master") return { text, major: Number.POSITIVE_INFINITY, minor: 0 };
  const openbsd = OPENBSD.exec(text);
  if (openbsd !== null) {
    const isNewEnough = Number(openbsd[1]) * 100 + Number(openbsd[2]) >= 609;
    return { text, major: 3, minor: isNewEnough ? 2 : 1 };
  }
  const [, major, minor] = NUMBERED.exec(text) ?? [];
  return major === undefined ? undefined : { text, major: Number(major), minor: Number(minor) };
}

/** Whether `version` is `major.minor` or later. */
export function isAtLeast(version: TmuxVersion, major: number, minor: number): boolean {
  return version.major > major || (version.major === major && version.minor >= minor);
}
