import type { ProjectId } from "../../domain/ids.ts";
import type { Project } from "../../domain/project.ts";
import type { PoolSettings, SpareBase } from "../../ports/spares.ts";
import type { MarkedWorkspace } from "../../ports/workspace.ts";
import type { SessionDeps } from "../deps.ts";
import { type Attempted, attempt } from "./attempt.ts";

/** A worktree that was made ahead, and why it has to go; `null` while it is of use. */
export interface JudgedSpare {
  readonly workspace: MarkedWorkspace;
  readonly unwanted: string | null;
}

/** What is ready of one project and what is wanted. */
export interface JudgedPool {
  readonly projectId: ProjectId;
  /** `null` for one that is registered no more, or whose pool nobody can judge now. */
  readonly wanted: { readonly project: Project; readonly size: number; readonly base: SpareBase } | null;
  readonly spares: readonly JudgedSpare[];
}

/** All worktrees that were made ahead. Runs no program. @throws AoError data_dir_unusable */
async function allSpares({ workspace }: Pick<SessionDeps, "workspace">) {
  return (await workspace.marked()).filter(({ spare }) => spare !== undefined);
}

/**
 * What there is of each project and what is wanted, those with neither left out. A project whose configuration or
 * repository cannot be read keeps what it has. Changes nothing.
 *
 * @throws AoError data_dir_unusable
 */
export async function judgePools(
  deps: SessionDeps,
  only: ProjectId | null,
): Promise<Attempted<readonly JudgedPool[]>> {
  const spares = await allSpares(deps);
  const projects = new Map(deps.store.projects().map((project) => [project.id, project]));
  const ids = [...new Set([...projects.keys(), ...spares.map(({ ref }) => ref.projectId)])];
  const asked = ids.filter((id) => only === null || id === only).sort();
  const judged = asked.map((id) => {
    const own = spares.filter(({ ref }) => ref.projectId === id);
    return attempt(`pool of ${id}`, () => judgePool(deps, projects.get(id), own), null);
  });
  const outcomes = await Promise.all(judged);
  return {
    value: outcomes.flatMap(({ value }) => value ?? []),
    errors: outcomes.flatMap(({ errors }) => errors),
  };
}

async function judgePool(
  deps: SessionDeps,
  project: Project | undefined,
  spares: readonly MarkedWorkspace[],
): Promise<JudgedPool | null> {
  const [first] = spares;
  if (project === undefined) {
    if (first === undefined) return null;
    const unwanted = "its project is no more registered";
    return { projectId: first.ref.projectId, wanted: null, spares: all(spares, unwanted) };
  }
  const settings = await deps.spares.wanted(project);
  if (settings.size === 0 && first === undefined) return null;
  return judgeWanted(deps, { project, settings, spares });
}

interface Wanted {
  readonly project: Project;
  readonly settings: PoolSettings;
  readonly spares: readonly MarkedWorkspace[];
}

async function judgeWanted(deps: SessionDeps, { project, settings, spares }: Wanted): Promise<JudgedPool> {
  const { id: projectId, repositoryPath } = project;
  if (settings.size === 0) return { projectId, wanted: null, spares: all(spares, "no pool is asked for") };
  const base = await deps.spares.base(repositoryPath, settings.defaultBranch ?? project.defaultBranch);
  const judged: JudgedSpare[] = [];
  let ready = 0;
  for (const workspace of spares) {
    const flaw = await flawOf(deps, { workspace, repositoryPath, base });
    const unwanted = flaw ?? (ready < settings.size ? null : "there are more than asked for");
    if (unwanted === null) ready += 1;
    judged.push({ workspace, unwanted });
  }
  return { projectId, wanted: { project, size: settings.size, base }, spares: judged };
}

async function flawOf(
  deps: SessionDeps,
  judging: {
    readonly workspace: MarkedWorkspace;
    readonly repositoryPath: string;
    readonly base: SpareBase;
  },
): Promise<string | null> {
  const { workspace, repositoryPath, base } = judging;
  const { ref, flaw } = workspace;
  if (flaw !== null) return flaw;
  if (ref.repositoryPath !== repositoryPath) return `it is one of ${ref.repositoryPath}`;
  return deps.spares.flaw(ref, base);
}

function all(spares: readonly MarkedWorkspace[], unwanted: string): readonly JudgedSpare[] {
  return spares.map((workspace) => ({ workspace, unwanted }));
}
