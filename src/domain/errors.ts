/**
 * Every error code with its exit code. Scripts match on both: add, never rename or renumber.
 *
 * 1 failed · 2 usage or configuration · 3 not found · 4 refused · 5 could not tell (a dependency is
 * missing or did not answer, nothing was changed) · 130 interrupted.
 */
export const EXIT_CODES = {
  usage: 2,
  config_invalid: 2,
  branch_invalid: 2,
  project_not_found: 3,
  session_not_found: 3,
  turn_not_found: 3,
  agent_not_found: 3,
  transcript_not_found: 3,
  salvage_not_found: 3,
  checkpoint_not_found: 3,
  operation_not_found: 3,
  not_restorable: 4,
  not_running: 4,
  busy: 4,
  operation_in_progress: 4,
  request_conflict: 4,
  workspace_dirty: 4,
  workspace_unsafe_path: 4,
  workspace_exists: 4,
  workspace_freed: 4,
  salvage_conflict: 4,
  branch_in_use: 4,
  branch_missing: 4,
  agent_session_unknown: 4,
  repository_empty: 4,
  project_exists: 4,
  project_in_use: 4,
  inside_session: 4,
  cancel_unsupported: 4,
  fork_unsupported: 4,
  turn_not_settled: 4,
  not_related: 4,
  goal_absent: 4,
  goal_unsupported: 4,
  transcript_damaged: 4,
  message_unsafe: 4,
  agent_unavailable: 5,
  runtime_unavailable: 5,
  git_unavailable: 5,
  data_dir_unusable: 5,
  store_busy: 5,
  store_newer: 5,
  store_corrupt: 5,
  agent_start_failed: 1,
  post_create_failed: 1,
  git_failed: 1,
  teardown_incomplete: 1,
  delivery_failed: 1,
  delivery_unconfirmed: 1,
  fork_failed: 1,
  fork_unknown: 1,
  goal_failed: 1,
  partly_failed: 1,
  timeout: 1,
  output_failed: 1,
  internal: 1,
  interrupted: 130,
} as const;

export type AoErrorCode = keyof typeof EXIT_CODES;

export interface AoErrorOptions {
  /** A command to type or an edit to make that would fix it. */
  readonly hint?: string;
  /** Machine-readable facts, printed with `--json`. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/**
 * A failure that `ao` foresaw. `message` is one lower-case clause that names what failed and on what;
 * `hint` is what to do about it.
 */
// biome-ignore lint/plugin: the one class of this project, so that `instanceof` and stack traces work
export class AoError extends Error {
  override readonly name = "AoError";
  readonly code: AoErrorCode;
  readonly hint: string | null;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: AoErrorCode, message: string, options: AoErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.hint = options.hint ?? null;
    this.details = options.details ?? {};
  }
}

/** Whether `error` is an `AoError`, of the given code when one is named. */
export function isAoError(error: unknown, code?: AoErrorCode): error is AoError {
  return error instanceof AoError && (code === undefined || error.code === code);
}

/** Whether the exit code of an error promises that nothing was changed (cli.md, exit code 5). */
export function saysUnchanged({ code }: AoError): boolean {
  return EXIT_CODES[code] === 5;
}

/** The code of anything that was thrown; `internal` for what is no error of `ao`. */
export function codeOf(error: unknown): AoErrorCode {
  return isAoError(error) ? error.code : "internal";
}

/** The text of anything that was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
