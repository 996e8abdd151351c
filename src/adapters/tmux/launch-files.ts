import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hasErrorCode } from "../../domain/error-code.ts";
import { AoError, errorMessage } from "../../domain/errors.ts";
import { shellQuoted } from "../../domain/shell-quoted.ts";
import type { RuntimeSpec } from "../../ports/runtime.ts";
import { SERVER_VARIABLES } from "./run-tmux.ts";

/** Exit status of a launch script that could not enter the workspace. */
export const NO_WORKSPACE_STATUS = 97;
/** Exit status of a launch script whose agent is no program; a shell has the same (POSIX sh, 2.8.2). */
export const NO_PROGRAM_STATUS = 127;
/** What the script prints when it could not enter, for whoever looks at its screen. */
export const NO_WORKSPACE_MARKER = "ao: the workspace cannot be entered";

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What the pane sets itself, and knows better than whoever starts the agent. */
const PANE_VARIABLES = [
  "TERM",
  "TERM_PROGRAM",
  "TERM_PROGRAM_VERSION",
  "TMUX",
  "TMUX_PANE",
  "COLUMNS",
  "LINES",
];

/** Names that a shell keeps for itself: to assign them fails, or changes how it reads the script. */
const SHELL_VARIABLES =
  "_ BASHOPTS BASH_VERSINFO DIRSTACK EUID FUNCNAME GROUPS IFS LINENO OLDPWD OPTERR OPTIND PPID PWD RANDOM SECONDS SHELLOPTS SHLVL UID";

const NOT_PASSED_ON = new Set([...PANE_VARIABLES, ...SHELL_VARIABLES.split(" ")]);

/**
 * The agent's environment as shell commands. Left out are names that are no identifiers, that the
 * terminal sets, or that the shell owns.
 */
export function environmentText(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .filter(([name]) => IDENTIFIER.test(name) && !NOT_PASSED_ON.has(name))
    .map(([name, value]) => `export ${name}=${shellQuoted(value)}\n`)
    .join("");
}

/**
 * The script that becomes the agent. It goes to the workspace and nowhere else, takes the environment from
 * its file, which it removes, and replaces itself by the agent, which so keeps the pane's process id.
 */
export function launchScript(
  spec: Pick<RuntimeSpec, "workspacePath" | "argv" | "stdinPath">,
  environmentPath: string,
): string {
  const workspace = shellQuoted(spec.workspacePath);
  const environment = shellQuoted(environmentPath);
  const program = shellQuoted(spec.argv[0] ?? "");
  const input = spec.stdinPath === undefined ? "" : ` <${shellQuoted(spec.stdinPath)}`;
  return `#!/bin/sh
cd -P -- ${workspace} 2>/dev/null && [ "$(pwd -P)" = ${workspace} ] || {
  echo ${shellQuoted(NO_WORKSPACE_MARKER)}
  exit ${NO_WORKSPACE_STATUS}
}
[ -x ${program} ] || {
  printf '%s\\n' ${shellQuoted(`ao: ${spec.argv[0]} cannot be run`)}
  exit ${NO_PROGRAM_STATUS}
}
ao_environment=$(cat -- ${environment} && rm -f -- ${environment}) || exit 98
unset ${[...SERVER_VARIABLES, "LC_ALL", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "OLDPWD"].join(" ")}
eval "$ao_environment"
unset ao_environment
exec ${spec.argv.map(shellQuoted).join(" ")}${input}
`;
}

export interface LaunchFiles {
  readonly scriptPath: string;
  /** Gone as soon as the script has read it. */
  readonly environmentPath: string;
}

/** Where the files of a launch are. Pure. */
export function launchFiles({ launchDir }: Pick<RuntimeSpec, "launchDir">): LaunchFiles {
  return { scriptPath: join(launchDir, "launch.sh"), environmentPath: join(launchDir, "env") };
}

/**
 * Writes script (0700) and environment (0600) anew into the launch folder. Never through a link.
 *
 * @throws AoError data_dir_unusable when they cannot be written.
 */
export async function writeLaunchFiles(spec: RuntimeSpec): Promise<void> {
  const { scriptPath, environmentPath } = launchFiles(spec);
  const marks = { AO_SESSION_ID: spec.sessionId, AO_LAUNCH_ID: spec.launchId };
  const environment = environmentText({ ...spec.env, ...marks });
  try {
    await mkdir(spec.launchDir, { recursive: true, mode: 0o700 });
    await writeAnew(environmentPath, environment, 0o600);
    await writeAnew(scriptPath, launchScript(spec, environmentPath), 0o700);
  } catch (error) {
    throw new AoError("data_dir_unusable", `${spec.launchDir} cannot be written: ${errorMessage(error)}`, {
      hint: "check what is there, its permissions and the free space, or set AO_DATA_DIR to another folder",
      cause: error,
    });
  }
}

async function writeAnew(path: string, content: string, mode: number): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, content, { mode, flag: "wx" });
}

/** Removes them, as far as they are there. Idempotent. */
export async function removeLaunchFiles({ environmentPath, scriptPath }: LaunchFiles): Promise<void> {
  await Promise.all([environmentPath, scriptPath].map(removeFile));
}

/** Below what is no folder there is no file either; `force` has that as an error (fs.rm of Node 20). */
async function removeFile(path: string): Promise<void> {
  try {
    await rm(path, { force: true });
  } catch (error) {
    if (!hasErrorCode(error, "ENOTDIR")) throw error;
  }
}
