import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { assertNever } from "../../domain/assert-never.ts";
import type { ToolCheck } from "../../ports/tool-check.ts";
import { askVersion, type TmuxProgram } from "./run-tmux.ts";
import { INSTALL_HINT } from "./unavailable.ts";
import { isAtLeast, OLDEST_TMUX, parseTmuxVersion } from "./version.ts";

const [OLDEST_MAJOR = 3, OLDEST_MINOR = 2] = OLDEST_TMUX.split(".").map(Number);

/** Whether tmux is there and new enough. Never rejects. */
export async function checkTmux(program: TmuxProgram): Promise<ToolCheck> {
  const answer = await askVersion(program);
  switch (answer.kind) {
    case "ok":
      return judgeVersion(answer.stdout, await whereIs(program));
    case "missing":
      return { kind: "missing", hint: INSTALL_HINT };
    case "refused":
      return { kind: "failed", cause: answer.message };
    case "failed":
      return { kind: "failed", cause: answer.cause };
    default:
      return assertNever(answer);
  }
}

function judgeVersion(output: string, path: string): ToolCheck {
  const version = parseTmuxVersion(output);
  if (version === undefined)
    return { kind: "failed", cause: `unknown version ${JSON.stringify(output.trim())}` };
  if (isAtLeast(version, OLDEST_MAJOR, OLDEST_MINOR)) return { kind: "ok", version: version.text, path };
  return { kind: "too_old", version: version.text, needed: OLDEST_TMUX, hint: INSTALL_HINT };
}

/** The path that the program's name leads to; the name itself when it cannot be told. */
async function whereIs({ tmuxPath = "tmux", env = process.env }: TmuxProgram): Promise<string> {
  if (isAbsolute(tmuxPath)) return tmuxPath;
  for (const folder of (env["PATH"] ?? "").split(":")) {
    const path = join(folder, tmuxPath);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return tmuxPath;
}

/** Why tmux may have refused what a supported version would have done, or `undefined`. */
export async function explainRefusal(program: TmuxProgram): Promise<string | undefined> {
  const check = await checkTmux(program);
  return check.kind === "too_old" ? `tmux ${check.version} is too old: ${check.hint}` : undefined;
}
