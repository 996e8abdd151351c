import { type JsonValue, jsonMembers } from "../../domain/canonical-json.ts";
import { AoError } from "../../domain/errors.ts";
import type { ProjectId } from "../../domain/ids.ts";
import type { LeasedOperation, Operation } from "../../domain/operation.ts";
import type { Project } from "../../domain/project.ts";
import type { UnreadableOperation } from "../../ports/operation-store.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import type { SessionDeps } from "../deps.ts";
import { crossing } from "../operations/crossing.ts";
import { operationInProgress } from "../operations/operation-errors.ts";
import type { UndoStep } from "../undo.ts";
import { projectNotFound } from "./project-draft.ts";

type Records = Pick<SessionDeps, "store" | "operations">;

/** @throws AoError project_exists when the repository or the id is registered already. */
export function insertProject(store: SessionStore, project: Project): void {
  if (store.insertProject(project)) return;
  const holder = store.projectOfRepository(project.repositoryPath) ?? store.project(project.id);
  const what = holder?.repositoryPath === project.repositoryPath ? project.repositoryPath : project.id;
  throw new AoError("project_exists", `${what} is registered already, as ${holder?.id}`, {
    hint: "ao project list",
    details: { id: holder?.id ?? null, repositoryPath: holder?.repositoryPath ?? null },
  });
}

/**
 * Registers the project of a spawn where it is new. To be called in the transaction of its beginning, which keeps
 * the project from being removed from then on.
 *
 * @throws AoError project_exists when it is no more new, project_not_found when another one is not there any more.
 */
export function requireRegistered(
  store: SessionStore,
  { project, registers = null }: { readonly project: Project; readonly registers?: Project | null },
): void {
  if (registers !== null) {
    insertProject(store, registers);
    return;
  }
  if (store.project(project.id)?.repositoryPath !== project.repositoryPath)
    throw projectNotFound({ store }, project.id);
}

/** The progress of a spawn that has only begun: which project it registered. */
export function registrationJson(project: Project | null): JsonValue {
  return project === null ? null : { registeredAtMs: project.createdAtMs };
}

/** When a spawn registered its project, Unix milliseconds; `null` when it did not. */
function registeredAtMsOf({ progress }: Pick<Operation, "progress">): number | null {
  const registeredAtMs = jsonMembers(progress)?.["registeredAtMs"];
  return typeof registeredAtMs === "number" ? registeredAtMs : null;
}

/** Forgets the project that a spawn has registered, unless something else came to use it. */
export function undoRegistration(
  deps: Records & Pick<SessionDeps, "boundary">,
  held: LeasedOperation,
): readonly UndoStep[] {
  const registeredAtMs = registeredAtMsOf(held);
  if (registeredAtMs === null) return [];
  const run = () => crossing(deps, "undo.project", () => unregisterUnused(deps, held, registeredAtMs));
  return [{ what: "project", where: held.projectId, run }];
}

function unregisterUnused(deps: Records, { id, projectId }: LeasedOperation, registeredAtMs: number): void {
  const { store } = deps;
  store.transaction(() => {
    // One that was registered since, by a person for one, is not the spawn's to forget.
    if (store.project(projectId)?.createdAtMs !== registeredAtMs) return;
    const { operations, unreadable } = underWayIn(deps, projectId);
    const { sessions, unreadable: damaged } = store.rows(projectId);
    const others = operations.filter((operation) => operation.id !== id);
    if (others.length + unreadable.length + sessions.length + damaged.length > 0) return;
    store.removeProject(projectId);
  });
}

/**
 * A spawn under way has no row yet.
 *
 * @throws AoError operation_in_progress, with who and since when.
 * @throws AoError store_corrupt when an operation cannot be read and may be one of the project.
 */
export function refuseUnderWay(deps: Records, { id }: Project): void {
  const { operations, unreadable } = underWayIn(deps, id);
  const [operation] = operations;
  if (operation !== undefined) throw operationInProgress(operation);
  const [damaged] = unreadable;
  if (damaged === undefined) return;
  const { id: operationId, sessionId, flaw } = damaged;
  throw new AoError(
    "store_corrupt",
    `operation ${operationId} cannot be read (${flaw}): it may be of project ${id}`,
    {
      hint: "ao doctor",
      details: { operationId, sessionId, flaw },
    },
  );
}

function underWayIn({ store, operations }: Records, project: ProjectId) {
  const rows = operations.unfinished();
  const isElsewhere = ({ sessionId }: UnreadableOperation) =>
    store.rows().sessions.some(({ id, projectId }) => id === sessionId && projectId !== project);
  return {
    operations: rows.operations.filter(({ projectId }) => projectId === project),
    unreadable: rows.unreadable.filter((row) => !isElsewhere(row)),
  };
}
