import { AoError } from "../../../domain/errors.ts";

/**
 * Does `work`; what the system refuses on the way, a full disk for example, is told as what git refuses is. The same
 * trouble gives the same message, whatever the name of the file that met it.
 *
 * @throws AoError git_failed; anything that is no error of the system as it came.
 */
export async function withSystemFailures<Result>(
  action: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const trouble = systemTrouble(error);
    if (trouble === undefined) throw error;
    throw new AoError("git_failed", `could not ${action}: ${trouble}`, {
      ...(trouble.startsWith("ENOSPC") && { hint: "make room on the repository's disk and try again" }),
      details: { trouble },
      cause: error,
    });
  }
}

/** As libuv writes it: `ENOSPC: no space left on device, write`, with paths after that (Node 20). */
function systemTrouble(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("syscall" in error)) return undefined;
  return error.message.split(", ")[0];
}
