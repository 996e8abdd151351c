import type { ProjectId, SessionId } from "../domain/ids.ts";
import type { Project } from "../domain/project.ts";
import type { SessionRecord } from "../domain/session.ts";

/** A session whose row cannot be read: it is damaged, or a later `ao` wrote it. Nothing ever changes the row. */
export interface UnreadableSession {
  /** As the columns have it; a text that is no id is one of its flaws. */
  readonly id: string;
  readonly projectId: string;
  readonly issueId: string | null;
  /** The first part that is wrong, for example `metadata.branch`. */
  readonly flaw: string;
}

/** Rows of a query, each on its own: one that cannot be read never hides the others. */
export interface SessionRows {
  readonly sessions: readonly SessionRecord[];
  readonly unreadable: readonly UnreadableSession[];
}

/**
 * Canonical state. Calls are synchronous: they are short, local, and must fit in one transaction.
 * Any call may throw AoError store_busy, store_corrupt, store_newer or data_dir_unusable.
 * Behaviour every adapter owes: test/contract/session-store.contract.ts.
 */
export interface SessionStore {
  /** Runs `work` alone among all writers of all processes; a throw undoes all its writes. Not nested. */
  transaction<Result>(work: () => Result): Result;

  /**
   * The next number for a prefix, from 1 and above every session of that prefix, upper and lower case being
   * the same. Durable at once; never given twice, not even after a crash. Not inside a transaction, which
   * could undo it.
   */
  allocateSessionNumber(prefix: string): number;

  /** @throws AoError store_corrupt when its row cannot be read. */
  get(id: SessionId): SessionRecord | undefined;
  /** All sessions, of one project when given, by creation, then by number, then by id. */
  rows(projectId?: ProjectId): SessionRows;
  /**
   * The sessions of `rows`, for those to whom a list without one of them would be a lie.
   *
   * @throws AoError store_corrupt when a row cannot be read.
   */
  list(projectId?: ProjectId): readonly SessionRecord[];
  /**
   * Adds a row, with what the session was asked to do; none by default. False when the id is taken; nothing
   * changed then.
   */
  insert(record: SessionRecord, prompt?: string | null): boolean;
  /**
   * What a session was asked to do, as it was inserted; `null` for nothing, and for a session that is unknown.
   *
   * @throws AoError store_corrupt when it is lost or cannot be read.
   */
  promptOf(id: SessionId): string | null;
  /**
   * Replaces the row when its stored revision is `readRevision`. False when it is not, or there is no
   * row; nothing changed then. The caller has set the new revision in `record`.
   */
  save(record: SessionRecord, readRevision: number): boolean;

  project(id: ProjectId): Project | undefined;
  projectOfRepository(repositoryPath: string): Project | undefined;
  /** All projects by id. */
  projects(): readonly Project[];
  /** Adds a project. False when the id or the repository is taken; nothing changed then. */
  insertProject(project: Project): boolean;
  /** Removes a project. False when there is none. Its sessions stay. */
  removeProject(id: ProjectId): boolean;

  /**
   * Stores `value` under `key` unless there is one already; returns what is stored then. A store that was
   * opened for reading stores nothing and returns `value` where there is none.
   */
  rememberOnce(key: string, value: string): string;
  /**
   * Reads all that is stored and checks that it is whole; takes time with the size. Asked before something is
   * removed, or brought back, on the word of the store alone.
   *
   * @throws AoError store_corrupt when any part of it is damaged, rows that cannot be read aside.
   */
  verify(): void;
  close(): void;
}
