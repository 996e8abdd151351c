import { AoError } from "../../domain/errors.ts";
import { EVERY_PROJECT, type ProjectId, parseProjectId, parseSessionId } from "../../domain/ids.ts";
import { isTerminal } from "../../domain/lifecycle.ts";
import { derivePrefix, deriveProjectId } from "../../domain/names.ts";
import type { Project } from "../../domain/project.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { SessionDeps } from "../deps.ts";

/** What a person or a configuration says of a new project; `null` is derived from the folder's name. */
export interface ProjectChoice {
  readonly id: string | null;
  readonly name: string | null;
  readonly prefix: string | null;
  /** `null` means: ask git each time. */
  readonly defaultBranch: string | null;
}

const NOTHING_CHOSEN: ProjectChoice = { id: null, name: null, prefix: null, defaultBranch: null };
/** Longest part of an unknown name that an error repeats, in UTF-16 code units. */
const MAX_SHOWN = 80;

/**
 * A repository as a project that is not stored yet. A derived id is free in the store and none of
 * `reserved`.
 *
 * @throws AoError usage when the id or the prefix is not valid.
 */
export function newProject(
  { store, clock }: Pick<SessionDeps, "store" | "clock">,
  repositoryPath: string,
  choice: ProjectChoice = NOTHING_CHOSEN,
  reserved: readonly ProjectId[] = [],
): Project {
  const folder = folderName(repositoryPath);
  const isTaken = (id: ProjectId) => store.project(id) !== undefined || reserved.includes(id);
  return {
    id: choice.id === null ? deriveProjectId(folder, isTaken) : requireProjectId(choice.id),
    name: choice.name ?? folder,
    repositoryPath,
    prefix: choice.prefix === null ? derivePrefix(folder) : requirePrefix(choice.prefix),
    defaultBranch: choice.defaultBranch,
    createdAtMs: clock.nowMs(),
  };
}

/** Whether a session keeps its project from being removed, where its worktree can still be freed or cannot. */
export function occupiesProject({ lifecycle, metadata }: SessionRecord, canBeFreed: boolean): boolean {
  return !isTerminal(lifecycle) || (canBeFreed && metadata.workspaceFreedAtMs === null);
}

/** The error for a name that is no project's, with those that are. */
export function projectNotFound(
  { store }: Pick<SessionDeps, "store">,
  name: string,
  config: readonly { readonly id: ProjectId | null }[] = [],
): AoError {
  const known = [...new Set([...config, ...store.projects()].flatMap(({ id }) => id ?? []))];
  return new AoError("project_not_found", `no project ${JSON.stringify(name.slice(0, MAX_SHOWN))}`, {
    hint: known.length === 0 ? "ao project add <path>" : "ao project list",
    details: { known },
  });
}

function folderName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/\.git$/, "") || "project";
}

function requireProjectId(text: string): ProjectId {
  const id = parseProjectId(text);
  if (id !== undefined && id !== EVERY_PROJECT) return id;
  throw new AoError("usage", `${JSON.stringify(text.slice(0, MAX_SHOWN))} cannot be a project id`, {
    hint: `1 to 63 letters, digits, _ and -, beginning with a letter or digit; not ${EVERY_PROJECT}`,
  });
}

function requirePrefix(text: string): string {
  if (parseSessionId(`${text}-1`) !== undefined) return text;
  throw new AoError("usage", `${JSON.stringify(text.slice(0, MAX_SHOWN))} cannot be a session id prefix`, {
    hint: "1 to 53 letters, digits, _ and -, beginning with a letter or digit",
  });
}
