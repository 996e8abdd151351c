import { AoError } from "../../domain/errors.ts";
import type { PostCreate } from "../../ports/post-create.ts";
import { withoutGitLocation } from "./git-environment.ts";
import { ledAway, type PlannedHead } from "./planned-head.ts";
import { checkPutPaths, mergePuts, type PutResult, putCopy, putLink } from "./put-files.ts";
import type { Repository } from "./repository.ts";
import { type LongResult, runLong } from "./run-long.ts";

const OUTPUT_LINES = 200;

/**
 * Puts the configured links and copies into a new worktree.
 *
 * @throws AoError config_invalid when a path leads out of the repository by its text.
 * @throws AoError workspace_unsafe_path when it does so through a link.
 */
export async function putFiles(
  repository: Repository,
  path: string,
  postCreate: PostCreate,
): Promise<PutResult> {
  const links = checkPutPaths("symlinks", postCreate.symlinks);
  const copies = checkPutPaths("copy", postCreate.copy);
  if (repository.bare && links.length + copies.length > 0) {
    const warning = `${repository.path} is bare: there are no files to put into the workspace`;
    return { put: [], warnings: [warning] };
  }
  const results: PutResult[] = [];
  for (const link of links) results.push(await putLink({ from: repository.path, to: path, path: link }));
  for (const copy of copies) results.push(await putCopy({ from: repository.path, to: path, path: copy }));
  return mergePuts(results);
}

export interface CommandPlace {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly head: PlannedHead;
}

/**
 * Runs the user's own commands, one after the other, each by `/bin/sh -c` in the worktree.
 *
 * @throws AoError post_create_failed for the first that fails, takes too long or checks another branch out, all its
 *   processes ended by then; `details.output` has its last 200 lines.
 */
export async function runCommands(commands: readonly string[], place: CommandPlace): Promise<void> {
  const { path, timeoutMs, head } = place;
  const env = withoutGitLocation(place.env);
  for (const command of commands) {
    const run = { program: "/bin/sh", args: ["-c", command], cwd: path, env, timeoutMs };
    const result = await runLong(run);
    const failure = whyFailed(result, timeoutMs) ?? (await whereLed(head));
    if (failure !== undefined) throw commandFailed(command, failure, result);
  }
}

function whyFailed(result: LongResult, timeoutMs: number): string | undefined {
  if (result.kind === "timed_out") return `was ended after ${timeoutMs / 1000} s`;
  if (result.kind === "not_started") return "could not be started";
  if (result.exitCode === 0) return undefined;
  return result.exitCode === null ? "was ended by a signal" : `failed with ${result.exitCode}`;
}

async function whereLed(head: PlannedHead): Promise<string | undefined> {
  const away = await ledAway(head);
  return away === undefined ? undefined : `led the workspace ${away}`;
}

function commandFailed(command: string, failure: string, result: LongResult): AoError {
  const output = result.kind === "not_started" ? String(result.cause) : lastLines(result.output);
  const exitCode = result.kind === "ended" ? result.exitCode : null;
  return new AoError("post_create_failed", `post-create command ${JSON.stringify(command)} ${failure}`, {
    hint: "see its output; it is set by postCreate in the configuration",
    details: { command, exitCode, output },
  });
}

const lastLines = (text: string): string => text.trimEnd().split("\n").slice(-OUTPUT_LINES).join("\n");
