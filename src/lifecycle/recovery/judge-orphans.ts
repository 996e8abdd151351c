import { errorMessage } from "../../domain/errors.ts";
import { isKeepable, unkeepableFinding } from "../../domain/salvage.ts";
import { shellQuoted } from "../../domain/shell-quoted.ts";
import type { MarkedWorkspace } from "../../ports/workspace.ts";
import type { SessionDeps } from "../deps.ts";
import { repositoriesOf } from "../salvage/find-salvage.ts";
import { describeFindings, describeRefusal, isRefusal } from "../workspace-refusal.ts";
import { type Orphans, runtimeOrphan, workspaceOrphan } from "./find-orphans.ts";
import type { Orphan } from "./reconcile-result.ts";

/** The command that keeps the work of orphans aside and frees them. */
const SALVAGE = "ao reconcile --salvage";

/** Whether a worktree of nobody may go. */
export interface JudgedOrphan {
  /** Why it has to stay, as one clause; `null` when nothing would be lost. */
  readonly holds: string | null;
  /** Whether what it holds can be kept aside at once. */
  readonly canKeep: boolean;
  /** The command that keeps what it holds aside; `null` when none can, or none has to. */
  readonly fix: string | null;
}

/** Where nothing has to be kept, or nothing can. */
const asItIs = (holds: string | null): JudgedOrphan => ({ holds, canKeep: false, fix: null });

/**
 * Looks into a worktree of nobody. Work is only kept in a repository that `ao` knows, for it would not be found again
 * in another one. Changes nothing.
 *
 * @throws AoError as `Workspace.inspect` and `Snapshots.obstacles`, but for a refusal.
 */
export async function judgeOrphan(deps: SessionDeps, { ref, flaw }: MarkedWorkspace): Promise<JudgedOrphan> {
  if (flaw !== null) return asItIs(flaw);
  try {
    const findings = await deps.workspace.inspect(ref);
    if (findings.length === 0) return asItIs(null);
    const holds = describeFindings(findings);
    if (!isKeepable(findings)) return asItIs(holds);
    const obstacles = await deps.snapshots.obstacles(ref);
    if (obstacles.length > 0) return asItIs(`${holds}, ${unkeepableFinding(obstacles).detail}`);
    return { holds, ...waysToKeep(deps, ref.repositoryPath) };
  } catch (error) {
    if (isRefusal(error)) return asItIs(describeRefusal(error));
    throw error;
  }
}

function waysToKeep(deps: SessionDeps, repositoryPath: string): Pick<JudgedOrphan, "canKeep" | "fix"> {
  const canKeep = repositoriesOf(deps, { projectId: null, sessionId: null }).includes(repositoryPath);
  return { canKeep, fix: canKeep ? SALVAGE : `ao project add ${shellQuoted(repositoryPath)} && ${SALVAGE}` };
}

/** All orphans, only named, each with what is in it. What cannot be looked into says so. */
export async function nameOrphans(
  deps: SessionDeps,
  { runtimes, workspaces }: Orphans,
): Promise<readonly Orphan[]> {
  const named = runtimes.map((runtime) => {
    const detail =
      runtime.process === null ? "its agent is dead" : `its agent runs as ${runtime.process.pid}`;
    return runtimeOrphan(runtime, { action: "found", detail });
  });
  const judged = await Promise.all(
    workspaces.map(async (workspace) => {
      const { holds, fix } = await judgeOrphan(deps, workspace).catch((error: unknown) => {
        return asItIs(errorMessage(error));
      });
      const detail = holds === null || workspace.flaw !== null ? holds : `no session has it: ${holds}`;
      return workspaceOrphan(workspace, { action: "found", detail: detail ?? "no session has it", fix });
    }),
  );
  return [...named, ...judged];
}
