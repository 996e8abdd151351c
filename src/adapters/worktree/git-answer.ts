import { AoError } from "../../domain/errors.ts";
import { type GitResult, gitFailed, outputOf } from "./git-failure.ts";

/** Said beside an answer that leaves out what could not be read (git 2.39.5). */
const PASSED_OVER = /^(error: |warning: ignoring broken ref )/m;

/**
 * The one line of a question that git may answer with no: by exit code 1 and silence, of which this makes
 * `undefined`. That it could not tell is another thing.
 *
 * @throws AoError git_failed when it could not; git_unavailable when that is no answer.
 */
export function lineOrNone(result: GitResult, action: string): string | undefined {
  const saysNo = result.exitCode === 1 && result.stdout === "" && !PASSED_OVER.test(result.stderr);
  return saysNo ? undefined : onlyLine(result, action);
}

/** As `lineOrNone` of a question about a commit. */
export function commitOrNone(result: GitResult, action: string): string | undefined {
  const line = lineOrNone(result, action);
  if (line === undefined || isCommit(line)) return line;
  throw strangeAnswer(action, result.stdout);
}

/** The one line of a question that git has to answer. @throws as `lineOrNone` */
export function onlyLine(result: GitResult, action: string): string {
  const lines = linesOf(result, action);
  const [line] = lines;
  if (line === undefined || lines.length > 1) throw strangeAnswer(action, result.stdout);
  return line;
}

/** All lines, at least one. @throws as `lineOrNone` */
export function linesOf(result: GitResult, action: string): readonly string[] {
  const output = outputOf(result, action);
  if (!output.endsWith("\n")) throw strangeAnswer(action, output);
  return output.slice(0, -1).split("\n");
}

/** Whether the exit code of a question without output says yes. @throws AoError git_failed when it could not tell */
export function saysYes(result: GitResult, action: string): boolean {
  if (result.exitCode === 0) return true;
  if (result.exitCode === 1 && !PASSED_OVER.test(result.stderr)) return false;
  throw gitFailed(action, result.stderr);
}

/** Whether a text is a whole object name, of SHA-1 or SHA-256. */
export function isCommit(text: string): boolean {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** git said that all is well and gave no answer that it could have given: a stand-in, or its output was lost. */
export function strangeAnswer(action: string, output: string): AoError {
  const said = output === "" ? "nothing" : JSON.stringify(output.slice(0, 80));
  return new AoError("git_unavailable", `git did not answer: asked to ${action}, it said ${said}`, {
    hint: "is that git in PATH? ao doctor",
    details: { output: output.slice(0, 4000) },
  });
}
