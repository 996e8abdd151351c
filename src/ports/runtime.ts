import type { RuntimeObservation } from "../domain/facts.ts";
import type { LaunchId, SessionId } from "../domain/ids.ts";
import type { ProcessIdentity, RuntimeHandle } from "../domain/session.ts";
import type { Fence } from "./fence.ts";
import type { ToolCheck } from "./tool-check.ts";

export interface RuntimeSpec {
  readonly sessionId: SessionId;
  readonly launchId: LaunchId;
  /** Resolved path; the agent starts there or not at all. */
  readonly workspacePath: string;
  /** A 0700 folder of this launch; the runtime may put its own files there. */
  readonly launchDir: string;
  /** The agent's command, its program an absolute path. */
  readonly argv: readonly string[];
  /** The whole environment of the agent. Names that are no shell identifiers are dropped. */
  readonly env: Readonly<Record<string, string>>;
  /** How long a death still counts as a failed start, in milliseconds. */
  readonly settleMs: number;
  /** A file that is the agent's standard input, in place of its terminal; absent for the terminal. */
  readonly stdinPath?: string;
  /** Asked right before the agent is started; when it throws, nothing was done, and the launch files are another's. */
  readonly fence?: Fence;
}

export interface StartedRuntime {
  readonly handle: RuntimeHandle;
  readonly process: ProcessIdentity;
}

/** One runtime as a session remembers it. */
export interface RuntimeTarget {
  readonly sessionId: SessionId;
  readonly launchId: LaunchId;
  readonly handle: RuntimeHandle;
  readonly process: ProcessIdentity | null;
}

/** A runtime as it is found by its marks, whatever is recorded of it. */
export interface MarkedRuntime extends RuntimeTarget {
  /** Unix milliseconds, to the second. */
  readonly createdAtMs: number;
}

/** Which launch of which session a runtime is of, as its marks say. */
export type RuntimeMark = Pick<RuntimeTarget, "sessionId" | "launchId">;

/** What one look saw of its targets, and what else it saw beside them. */
export interface RuntimeSurvey {
  /** As `Runtime.look`. */
  readonly seen: ReadonlyMap<SessionId, RuntimeObservation>;
  /** Those whose runtime was there, as `Runtime.marked` would list them; `null` when this look cannot tell for all. */
  readonly marks: readonly RuntimeMark[] | null;
}

/** Where agents run. Behaviour every adapter owes: test/contract/runtime.contract.ts. */
export interface Runtime {
  readonly name: string;

  /** Whether the program behind it is there and new enough. Never rejects. */
  check(): Promise<ToolCheck>;

  /**
   * Starts the agent in its workspace; resolves when its process has outlived `settleMs`. On failure
   * nothing of it is left, or `details.left` of the error, a list of `{what, where, why}`, says what is or may be:
   * the agent may run on then. Code and other details are those of the failure itself.
   *
   * @throws AoError agent_start_failed when the agent exited within `settleMs`; `details` has
   *   `exitStatus`, `signal` and the last lines of `output`.
   * @throws AoError runtime_unavailable when the runtime is missing, too old or did not answer.
   * @throws AoError operation_in_progress when a runtime of this session id exists already.
   */
  create(spec: RuntimeSpec): Promise<StartedRuntime>;

  /**
   * One look at all of them, with one call to each server. Never rejects: a look that failed is
   * `probe_failed` for those it concerns. Every target has an answer. Makes nothing and signals nobody.
   *
   * Where a person closed the agent's own terminal and left others in its runtime, an agent that is dead has
   * `exited`, without an ending; of one that lives the runtime is `missing`.
   */
  look(targets: readonly RuntimeTarget[]): Promise<ReadonlyMap<SessionId, RuntimeObservation>>;

  /** As `look`, with the same calls; and what they list beside the targets. Without targets no call, and no marks. */
  survey(targets: readonly RuntimeTarget[]): Promise<RuntimeSurvey>;

  /**
   * Brings runtimes that live but got out of reach, for example as a cleaner removed a socket, back into reach.
   * Changing commands and dry runs of them begin with it; does nothing when nothing is wrong. Never rejects: what stays out of
   * reach is `probe_failed` in a look.
   */
  reopen(): Promise<void>;

  /**
   * Every runtime of this data directory, those of dead agents included; their `process` is `null`. Empty when
   * it is certain that there is none.
   *
   * @throws AoError runtime_unavailable when it could not look.
   */
  marked(): Promise<readonly MarkedRuntime[]>;

  /**
   * The runtime of one launch by its marks, or `undefined` when it is certain that there is none. Its `process`
   * is `null` when the agent is dead.
   *
   * @throws AoError runtime_unavailable when it could not look.
   */
  find(sessionId: SessionId, launchId: LaunchId): Promise<MarkedRuntime | undefined>;

  /**
   * Ends the agent with its whole process tree, TERM first and KILL within 5 s, then the runtime with all that a
   * person opened in it. Idempotent: ending what is gone resolves.
   *
   * @throws AoError runtime_unavailable when it could not look, nothing was signalled.
   * @throws AoError teardown_incomplete when something still lives or may; `details.left` says what, as in `create`.
   */
  destroy(target: RuntimeTarget): Promise<void>;

  /**
   * The last `lines` lines of the screen and its history, oldest first, without trailing blank lines.
   *
   * @throws AoError not_running when the runtime is gone.
   * @throws AoError runtime_unavailable when it did not answer.
   */
  capture(target: RuntimeTarget, lines: number): Promise<readonly string[]>;

  /**
   * What the terminals show now, without history and trailing blank lines, oldest line first; with two calls to each
   * server, however many there are. Never rejects: those that are gone or could not be read have no answer.
   */
  screens(targets: readonly RuntimeTarget[]): Promise<ReadonlyMap<SessionId, readonly string[]>>;

  /** The command that attaches a terminal to it; `env` is that terminal's, where it is known. */
  attachArgv(handle: RuntimeHandle, env?: Readonly<Record<string, string | undefined>>): readonly string[];

  /** The command that moves the surrounding client to it, or `undefined` when `env` is not inside its server. */
  switchArgv(
    handle: RuntimeHandle,
    env: Readonly<Record<string, string | undefined>>,
  ): readonly string[] | undefined;
}
