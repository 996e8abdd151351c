import { AoError } from "../../domain/errors.ts";
import type { ProjectId, SessionId } from "../../domain/ids.ts";
import type { Project } from "../../domain/project.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { SessionRows, SessionStore } from "../../ports/session-store.ts";

/** The twin, with a lever that no real store has. */
export interface MemorySessionStore extends SessionStore {
  /** From now on the row of this session cannot be read. */
  spoil(id: SessionId, flaw: string): void;
}

interface State {
  readonly sessions: Map<SessionId, SessionRecord>;
  readonly prompts: Map<SessionId, string | null>;
  /** Flaws of rows that cannot be read. */
  readonly spoiled: Map<SessionId, string>;
  readonly projects: Map<ProjectId, Project>;
  readonly settings: Map<string, string>;
}

type Rows = Omit<SessionStore, "transaction" | "allocateSessionNumber" | "verify" | "close">;
type SessionPart = "get" | "rows" | "list" | "insert" | "promptOf" | "save";

function splitId(id: SessionId): { readonly prefix: string; readonly number: number } {
  const dash = id.lastIndexOf("-");
  return { prefix: id.slice(0, dash), number: Number(id.slice(dash + 1)) };
}

const byText = (a: string, b: string) => (a < b ? -1 : Number(a > b));

function byCreation(a: SessionRecord, b: SessionRecord): number {
  return a.createdAtMs - b.createdAtMs || splitId(a.id).number - splitId(b.id).number || byText(a.id, b.id);
}

function copyOf(state: State): State {
  return {
    sessions: new Map(state.sessions),
    prompts: new Map(state.prompts),
    spoiled: new Map(state.spoiled),
    projects: new Map(state.projects),
    settings: new Map(state.settings),
  };
}

function highestNumber(state: State, prefix: string): number {
  const ids = [...state.sessions.keys()].map(splitId).filter((id) => id.prefix.toLowerCase() === prefix);
  return Math.max(0, ...ids.map((id) => id.number));
}

function rowsOf({ sessions, spoiled }: State, projectId: ProjectId | undefined): SessionRows {
  const rows = [...sessions.values()]
    .filter((record) => projectId === undefined || record.projectId === projectId)
    .sort(byCreation);
  const flawOf = ({ id }: SessionRecord) => spoiled.get(id);
  return {
    sessions: rows.filter((record) => flawOf(record) === undefined).map((record) => structuredClone(record)),
    unreadable: rows.flatMap((record) => {
      const flaw = flawOf(record);
      const { id, projectId: ofProject, issueId } = record;
      return flaw === undefined ? [] : [{ id, projectId: ofProject, issueId, flaw }];
    }),
  };
}

function refuse({ unreadable: [first] }: SessionRows): void {
  if (first !== undefined) {
    throw new AoError("store_corrupt", `the store has an unreadable session: ${first.id} (${first.flaw})`);
  }
}

function sessionRows(current: () => State): Pick<Rows, SessionPart> {
  return {
    get(id) {
      const { sessions, spoiled } = current();
      if (spoiled.has(id)) refuse(rowsOf(current(), sessions.get(id)?.projectId));
      return structuredClone(sessions.get(id));
    },
    rows: (projectId) => rowsOf(current(), projectId),
    list(projectId) {
      const rows = rowsOf(current(), projectId);
      refuse(rows);
      return rows.sessions;
    },
    insert(record, prompt = null) {
      if (current().sessions.has(record.id)) return false;
      current().sessions.set(record.id, structuredClone(record));
      current().prompts.set(record.id, prompt);
      return true;
    },
    promptOf: (id) => current().prompts.get(id) ?? null,
    save(record, readRevision) {
      if (current().sessions.get(record.id)?.lifecycle.revision !== readRevision) return false;
      current().sessions.set(record.id, structuredClone(record));
      return true;
    },
  };
}

function projectRows(current: () => State): Omit<Rows, SessionPart> {
  const ofRepository = (path: string) =>
    [...current().projects.values()].find((project) => project.repositoryPath === path);
  return {
    project: (id) => structuredClone(current().projects.get(id)),
    projectOfRepository: (path) => structuredClone(ofRepository(path)),
    projects: () =>
      [...current().projects.values()]
        .sort((a, b) => byText(a.id, b.id))
        .map((project) => structuredClone(project)),
    insertProject(project) {
      if (current().projects.has(project.id) || ofRepository(project.repositoryPath)) return false;
      current().projects.set(project.id, structuredClone(project));
      return true;
    },
    removeProject: (id) => current().projects.delete(id),
    rememberOnce(key, value) {
      const stored = current().settings.get(key) ?? value;
      current().settings.set(key, stored);
      return stored;
    },
  };
}

/** A session store in memory: nothing outlives the object, everything else is as with a file. */
export function memorySessionStore(): MemorySessionStore {
  const numbers = new Map<string, number>();
  let state: State = {
    sessions: new Map(),
    prompts: new Map(),
    spoiled: new Map(),
    projects: new Map(),
    settings: new Map(),
  };
  let inTransaction = false;

  function refuseInTransaction(what: string): void {
    if (inTransaction) throw new AoError("internal", `${what} inside a transaction of the session store`);
  }

  return {
    ...sessionRows(() => state),
    ...projectRows(() => state),
    transaction(work) {
      refuseInTransaction("a transaction");
      const before = copyOf(state);
      inTransaction = true;
      try {
        const result = work();
        if (result instanceof Promise) throw new TypeError("work of a transaction cannot be asynchronous");
        return result;
      } catch (error) {
        state = before;
        throw error;
      } finally {
        inTransaction = false;
      }
    },
    allocateSessionNumber(prefix) {
      refuseInTransaction("a session number is allocated");
      const key = prefix.toLowerCase();
      const number = Math.max(numbers.get(key) ?? 0, highestNumber(state, key)) + 1;
      numbers.set(key, number);
      return number;
    },
    spoil: (id, flaw) => void state.spoiled.set(id, flaw),
    verify: () => undefined,
    close: () => undefined,
  };
}
