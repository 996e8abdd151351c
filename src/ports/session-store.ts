import type { ProjectId, SessionId } from "../domain/ids.ts";
import type { Project } from "../domain/project.ts";
import type { SessionRecord } from "../domain/session.ts";

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

  get(id: SessionId): SessionRecord | undefined;
  /**
   * All sessions, of one project when given, by creation, then by number, then by id. One row that cannot be
   * read fails the call with `store_corrupt`: a list without it would be a lie.
   */
  list(projectId?: ProjectId): readonly SessionRecord[];
  /** Adds a row. False when the id is taken; nothing changed then. */
  insert(record: SessionRecord): boolean;
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

  /** Stores `value` under `key` unless there is one already; returns what is stored then. */
  rememberOnce(key: string, value: string): string;
  close(): void;
}
