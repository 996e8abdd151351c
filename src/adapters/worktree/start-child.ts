import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";

/** `code` is the system's, for example `ENOENT`. */
export interface NotStarted {
  readonly kind: "not_started";
  readonly code: string | undefined;
  readonly cause: unknown;
}

type StartedChild =
  | { readonly kind: "started"; readonly child: ChildProcess; readonly pid: number }
  | NotStarted;

/**
 * Starts a program; that it could not be started is an answer. Never rejects.
 *
 * Without file descriptors to spare a child of Node (20.20) has neither pid nor streams, and emits its error in the
 * next turn; execa 9 trips over that before it listens, and the error ends the whole program.
 */
export async function startChild(
  program: string,
  args: readonly string[],
  options: SpawnOptions,
): Promise<StartedChild> {
  try {
    const child = spawn(program, args, options);
    const failed = new Promise<Error>((resolve) => void child.on("error", resolve));
    return child.pid === undefined ? notStarted(await failed) : { kind: "started", child, pid: child.pid };
  } catch (error) {
    return notStarted(error);
  }
}

function notStarted(cause: unknown): NotStarted {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  return { kind: "not_started", code, cause };
}
