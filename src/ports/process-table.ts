import type { ProcessFact } from "../domain/facts.ts";
import type { ProcessIdentity } from "../domain/session.ts";

export interface EnvMarker {
  readonly name: string;
  readonly value: string;
}

export interface ProcessUse {
  readonly pid: number;
  readonly command: string;
  /** What it uses there: its working directory first, when that is below, then files. */
  readonly paths: readonly string[];
}

/**
 * The processes of this machine, told apart by pid, start time and boot id. All but `look` throw AoError
 * runtime_unavailable when the system would not tell; nothing was signalled then.
 */
export interface ProcessTable {
  /** The identity of a running process, or `undefined` when none, or only a zombie, has that pid. */
  identify(pid: number): Promise<ProcessIdentity | undefined>;
  /**
   * One look at many processes, answers in the order given, with no child process on Linux and a fixed few
   * elsewhere. Never rejects. A zombie is dead. Another boot's process is dead, and said to be of it.
   */
  look(identities: readonly ProcessIdentity[]): Promise<readonly ProcessFact[]>;
  /**
   * `root` itself when alive, its descendants, and every process of this user whose environment carries
   * all of the markers, the caller and its ancestors excepted. Root first, near descendants before far ones.
   */
  family(
    root: ProcessIdentity | null,
    ...markers: readonly [EnvMarker, ...EnvMarker[]]
  ): Promise<readonly ProcessIdentity[]>;
  /**
   * Sends a signal unless the pid belongs to another process by now. Idempotent. A process that may not be
   * signalled is left alone without an error: the next look shows that it lives.
   */
  signal(identity: ProcessIdentity, signal: "SIGTERM" | "SIGHUP" | "SIGKILL" | "SIGUSR1"): Promise<void>;
  /**
   * Those that ignore SIGTERM, as interactive shells do; none where the system does not tell. The dead ignore
   * nothing.
   */
  deafToTerm(identities: readonly ProcessIdentity[]): Promise<readonly ProcessIdentity[]>;
  /**
   * Processes but the caller that use `directory` or what is below it: as their working directory, as a file
   * that is open or mapped, or as the program they run. As far as this user may see; the path must be a
   * resolved one. One look at all processes, however many folders the answer is then searched for.
   */
  usersOf(directory: string): Promise<readonly ProcessUse[]>;
}
