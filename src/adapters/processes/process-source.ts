import type { EnvMarker } from "../../ports/process-table.ts";

/** One process as the system lists it. */
export interface ProcessRow {
  readonly pid: number;
  readonly parentPid: number;
  readonly startTime: string;
  /** It exited: only its entry is left until the parent waits for it. */
  readonly dead: boolean;
  /** The short name of its program, without arguments; the process may have chosen it itself. */
  readonly command: string;
  /** Absent where the system does not tell. */
  readonly ignoresTerm?: boolean;
}

/** What looking for one pid found. `unreadable`: something has that pid and may not be looked at. */
export type Sighting =
  | { readonly kind: "seen"; readonly row: ProcessRow }
  | { readonly kind: "absent" }
  | { readonly kind: "unreadable" };

/** What an operating system tells about its processes. Every function rejects when it tells nothing. */
export interface ProcessSource {
  /** Names the running boot; never changes while this process lives. */
  bootId(): Promise<string>;
  /** Looks for each pid; an answer for every one of them. */
  sight(pids: readonly number[]): Promise<ReadonlyMap<number, Sighting>>;
  /** Every process that may be looked at. */
  all(): Promise<readonly ProcessRow[]>;
  /** The pids of those processes whose environment holds all of the markers, as far as it may be read. */
  marked(markers: readonly EnvMarker[]): Promise<ReadonlySet<number>>;
  /**
   * What processes use by pid, as far as it may be read: working directory, program, open and mapped files;
   * what was removed as it was called. Of mapped files only those that may be below `directory`.
   */
  uses(directory: string): Promise<ReadonlyMap<number, readonly string[]>>;
}
