import type { Database } from "better-sqlite3";
import { parseProjectId } from "../../domain/ids.ts";
import type { Project } from "../../domain/project.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import { storeCorrupt } from "./errors.ts";

/** A row of the table `projects`; SQLite itself guards the types of a STRICT table. */
interface ProjectRow {
  readonly id: string;
  readonly name: string;
  readonly repositoryPath: string;
  readonly prefix: string;
  readonly defaultBranch: string | null;
  readonly createdAtMs: number;
}

const SELECT = `SELECT id, name, repository_path AS repositoryPath, prefix,
  default_branch AS defaultBranch, created_at AS createdAtMs FROM projects`;

type ProjectTable = Pick<
  SessionStore,
  "project" | "projectOfRepository" | "projects" | "insertProject" | "removeProject"
>;

function readProject(path: string, row: ProjectRow): Project {
  const id = parseProjectId(row.id);
  if (id === undefined) throw storeCorrupt(path, `has a project with the id ${JSON.stringify(row.id)}`);
  return { ...row, id };
}

/** The registered repositories. */
export function projectTable(db: Database): ProjectTable {
  const byId = db.prepare<[string], ProjectRow>(`${SELECT} WHERE id = ?`);
  const byRepository = db.prepare<[string], ProjectRow>(`${SELECT} WHERE repository_path = ?`);
  const all = db.prepare<[], ProjectRow>(`${SELECT} ORDER BY id`);
  const insert = db.prepare<[ProjectRow]>(
    `INSERT INTO projects (id, name, repository_path, prefix, default_branch, created_at)
     VALUES (@id, @name, @repositoryPath, @prefix, @defaultBranch, @createdAtMs)
     ON CONFLICT DO NOTHING`,
  );
  const remove = db.prepare<[string]>("DELETE FROM projects WHERE id = ?");
  const read = (row: ProjectRow) => readProject(db.name, row);

  return {
    project: (id) => byId.all(id).map(read)[0],
    projectOfRepository: (repositoryPath) => byRepository.all(repositoryPath).map(read)[0],
    projects: () => all.all().map(read),
    insertProject: (project) => insert.run(project).changes === 1,
    removeProject: (id) => remove.run(id).changes === 1,
  };
}
