import { agentEnvironment } from "../../domain/agent-environment.ts";
import type { GoalCheck } from "../../domain/goal.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { SessionDeps } from "../deps.ts";
import { crossing } from "../operations/crossing.ts";
import { withMark } from "./check-marks.ts";

/** How long a command of the user's may take. */
const CHECK_TIMEOUT_MS = 60_000;
/** How much of the end of its output is kept. */
const MAX_OUTPUT_CHARS = 4096;

export interface CheckOptions {
  /** The environment that the project's configuration adds for a session. */
  readonly envOf?: (record: SessionRecord) => Promise<Readonly<Record<string, string>>>;
}

interface Check extends CheckOptions {
  readonly until: string;
}

/** Runs the command that tells whether a goal is reached: in the session's worktree, with its agent's environment. */
export async function runCheck(
  deps: SessionDeps,
  record: SessionRecord,
  { until, envOf }: Check,
): Promise<GoalCheck> {
  const { id: sessionId, projectId, issueId, metadata } = record;
  const { launchId, configPath, workspacePath } = metadata;
  const env = agentEnvironment({
    ...{ callerEnv: deps.callerEnv, agentEnv: {}, projectEnv: (await envOf?.(record)) ?? {} },
    ao: { sessionId, projectId, issueId, dataDir: deps.dataDir, launchId, configPath },
  });
  const result = await withMark(deps, record, (mark) =>
    crossing(deps, "goal.check", () =>
      deps.goalChecks.run({
        ...{ command: until, cwd: workspacePath, env: { ...env, ...mark } },
        ...{ timeoutMs: CHECK_TIMEOUT_MS, maxChars: MAX_OUTPUT_CHARS },
      }),
    ),
  );
  const atMs = deps.clock.nowMs();
  switch (result.kind) {
    case "ended":
      return { exitCode: result.exitCode, output: result.output, isCut: result.isCut, atMs };
    case "broken_off":
      return { exitCode: null, output: `${result.output}\n${result.why}`.trim(), isCut: result.isCut, atMs };
    case "not_run":
      return { exitCode: null, output: result.why, isCut: false, atMs };
  }
}
