import { AoError, errorMessage } from "../../domain/errors.ts";
import { type ProjectId, parseSessionId, type SessionId } from "../../domain/ids.ts";
import { parseSalvageRef, type Salvage } from "../../domain/salvage.ts";
import type { SessionDeps } from "../deps.ts";

type FindDeps = Pick<SessionDeps, "store" | "snapshots">;

/** A salvage and the repository that has it. */
export interface FoundSalvage extends Salvage {
  readonly repositoryPath: string;
}

export interface SalvageList {
  /** By repository, session and number. */
  readonly salvages: readonly FoundSalvage[];
  /** Repositories that could not be asked. */
  readonly errors: readonly { readonly repositoryPath: string; readonly message: string }[];
}

/**
 * All salvages of the repositories that `ao` knows, or of one project or session. Those of sessions that it does
 * not know any more are among them.
 *
 * @throws AoError git_unavailable, store_corrupt
 */
export async function listSalvages(
  deps: FindDeps,
  { projectId, sessionId }: { readonly projectId: ProjectId | null; readonly sessionId: SessionId | null },
): Promise<SalvageList> {
  const salvages: FoundSalvage[] = [];
  const errors: { repositoryPath: string; message: string }[] = [];
  for (const repositoryPath of repositoriesOf(deps, { projectId, sessionId })) {
    try {
      const found = await deps.snapshots.list(repositoryPath, sessionId ?? undefined);
      const wanted = found.filter((salvage) => isOfProject(deps, salvage, projectId));
      salvages.push(...wanted.map((salvage) => ({ ...salvage, repositoryPath })));
    } catch (error) {
      errors.push({ repositoryPath, message: errorMessage(error) });
    }
  }
  return { salvages, errors };
}

const NOTHING: SalvageList = { salvages: [], errors: [] };

function notAsked(name: string, { repositoryPath, message }: SalvageList["errors"][number]): AoError {
  return new AoError(
    "git_unavailable",
    `whether there is a salvage ${JSON.stringify(name)} cannot be told: ${message}`,
    {
      hint: "try again when git works: ao doctor",
      details: { repositoryPath },
    },
  );
}

/**
 * The salvage that a person named: `app-7/2`, its ref, or a session for its newest one.
 *
 * @throws AoError salvage_not_found
 * @throws AoError git_unavailable when it was not found, and a repository where it may be could not be asked.
 */
export async function findSalvage(deps: FindDeps, name: string): Promise<FoundSalvage> {
  const named = parseSalvageRef(name);
  const sessionId = named?.sessionId ?? parseSessionId(name);
  const { salvages, errors } =
    sessionId === undefined ? NOTHING : await listSalvages(deps, { projectId: null, sessionId });
  const found = named === undefined ? salvages.at(-1) : salvages.find(({ ref }) => ref === named.ref);
  if (found !== undefined) return found;
  const [unseen] = errors;
  if (unseen !== undefined) throw notAsked(name, unseen);
  throw new AoError("salvage_not_found", `no salvage ${JSON.stringify(name)}`, { hint: "ao salvage list" });
}

interface Scope {
  readonly projectId: ProjectId | null;
  readonly sessionId: SessionId | null;
}

/** Those that `ao` knows, by path. Those of sessions come along: their project may not be registered any more. */
export function repositoriesOf(
  { store }: Pick<FindDeps, "store">,
  { projectId, sessionId }: Scope,
): readonly string[] {
  const own = sessionId === null ? undefined : store.get(sessionId);
  if (own !== undefined) return [own.metadata.repositoryPath];
  const projects = store.projects().filter(({ id }) => projectId === null || id === projectId);
  const { sessions } = store.rows(projectId ?? undefined);
  const paths = [
    ...projects.map((project) => project.repositoryPath),
    ...sessions.map(({ metadata }) => metadata.repositoryPath),
  ];
  return [...new Set(paths)].sort();
}

/** Of a session that nobody knows its repository alone tells. */
function isOfProject({ store }: FindDeps, { sessionId }: Salvage, projectId: ProjectId | null): boolean {
  if (projectId === null) return true;
  const record = store.get(sessionId);
  return record === undefined || record.projectId === projectId;
}
