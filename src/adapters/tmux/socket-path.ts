import { lstat, mkdir } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { hasErrorCode } from "../../domain/error-code.ts";
import { AoError, errorMessage } from "../../domain/errors.ts";
import { shellQuoted } from "../../domain/shell-quoted.ts";

/** `sun_path` has 104 bytes on macOS and 108 on Linux, the final NUL included (unix(4), unix(7)). */
const MAX_SOCKET_PATH_BYTES = 103;
const OTHERS_PERMISSION_BITS = 0o077;

export interface SocketPathInput {
  /** `XDG_RUNTIME_DIR` when that folder exists, else `undefined`. */
  readonly xdgRuntimeDir: string | undefined;
  readonly tmpDir: string;
  readonly uid: number;
  /** A short hexadecimal digest of the data directory's resolved path. */
  readonly dataDirDigest: string;
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES;
}

/**
 * Where the tmux server of one data directory listens: a folder of its own under the runtime folder, else
 * under the temporary one, else under `/tmp` when both are too deep for a socket. Pure.
 */
export function chooseSocketPath(input: SocketPathInput): string {
  const { xdgRuntimeDir, tmpDir, uid, dataDirDigest } = input;
  const folder = `ao-${uid}-${dataDirDigest.slice(0, 16)}`;
  const bases = [xdgRuntimeDir, tmpDir].filter((base) => base !== undefined && isAbsolute(base));
  const paths = bases.map((base) => join(base ?? "/", folder, "tmux"));
  return paths.find(fits) ?? join("/tmp", folder, "tmux");
}

/**
 * Makes the socket's folder, 0700, or verifies the one that is there: a real folder, of this user, closed
 * to all others. The folder above it must exist. Idempotent.
 *
 * @throws AoError runtime_unavailable when it is not so, or when the path is too long for a socket.
 */
export async function prepareSocketFolder(socketPath: string, uid: number): Promise<void> {
  if (!fits(socketPath)) {
    throw unusable(socketPath, `it is longer than ${MAX_SOCKET_PATH_BYTES} bytes`, {
      hint: "set XDG_RUNTIME_DIR or TMPDIR to a folder with a shorter path",
    });
  }
  const folder = dirname(socketPath);
  const problem = await makeFolder(folder).then(
    () => folderProblem(folder, uid),
    (error: unknown) => ({
      why: errorMessage(error),
      hint: `make sure that ${dirname(folder)} is a folder of yours`,
    }),
  );
  if (problem !== undefined) throw unusable(folder, problem.why, { hint: problem.hint });
}

function unusable(path: string, why: string, options: { readonly hint: string }): AoError {
  return new AoError("runtime_unavailable", `${path} cannot hold the tmux socket: ${why}`, options);
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (!hasErrorCode(error, "EEXIST")) throw error;
  }
}

async function folderProblem(
  folder: string,
  uid: number,
): Promise<{ readonly why: string; readonly hint: string } | undefined> {
  const stats = await lstat(folder);
  const remove = `look at ${folder} and remove it if it is not yours`;
  if (!stats.isDirectory()) return { why: "it is not a folder", hint: remove };
  if (stats.uid !== uid) return { why: `it belongs to user ${stats.uid}`, hint: remove };
  if ((stats.mode & OTHERS_PERMISSION_BITS) !== 0) {
    return { why: "others may enter it", hint: `chmod 700 ${shellQuoted(folder)}` };
  }
  return undefined;
}
