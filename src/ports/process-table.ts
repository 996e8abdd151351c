import type { ProcessFact } from "../domain/facts.ts";
import type { ProcessIdentity } from "../domain/session.ts";

export interface EnvMarker {
  readonly name: string;
  readonly value: string;
}

export interface ProcessUse {
  readonly pid: number;
  readonly command: string;
}

/** The processes of this machine, told apart by pid, start time and boot id. */
export interface ProcessTable {
  /** The identity of a running process, or `undefined` when no process has that pid. */
  identify(pid: number): Promise<ProcessIdentity | undefined>;
  /**
   * One look at many processes, in the order given, with no child process on Linux and one in all
   * elsewhere. Never rejects. A zombie is dead. Another boot's process is dead.
   */
  look(identities: readonly ProcessIdentity[]): Promise<readonly ProcessFact[]>;
  /**
   * `root` itself when alive, its descendants, and every process of this user whose environment carries
   * the marker, the caller and its ancestors excepted.
   */
  family(root: ProcessIdentity | null, marker: EnvMarker): Promise<readonly ProcessIdentity[]>;
  /** Sends a signal unless the pid belongs to another process by now. Idempotent. */
  signal(identity: ProcessIdentity, signal: "SIGTERM" | "SIGKILL" | "SIGUSR1"): Promise<void>;
  /** Processes whose working directory is `directory` or below it; the path must be a real one. */
  usersOf(directory: string): Promise<readonly ProcessUse[]>;
}
