import type { Database } from "better-sqlite3";
import { storeNewer } from "./errors.ts";
import { GOALS } from "./goal-schema.ts";
import { verifyDatabase } from "./verify-database.ts";

/** One step of the schema. Once released it is never edited: a change is a new step. */
export interface Migration {
  /** The schema number that the database has afterwards; steps count up from 1 without a gap. */
  readonly version: number;
  readonly sql: string;
}

/**
 * Prefix and number of a session are read off its id, so that they cannot differ from it. Sessions outlive
 * their project, so `project_id` refers to no row. Lifecycle and metadata are JSON; `revision` repeats the
 * one in the lifecycle for the check of a write.
 */
const FIRST_LIGHT = `
  CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    repository_path TEXT NOT NULL UNIQUE,
    prefix TEXT NOT NULL,
    default_branch TEXT,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL,
    issue_id TEXT,
    kind TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    terminated_at INTEGER,
    revision INTEGER NOT NULL,
    lifecycle TEXT NOT NULL,
    metadata TEXT NOT NULL,
    prefix TEXT NOT NULL AS (substr(id, 1, length(rtrim(id, '0123456789')) - 1)),
    number INTEGER NOT NULL AS (CAST(substr(id, length(rtrim(id, '0123456789')) + 1) AS INTEGER))
  ) STRICT;
  CREATE INDEX sessions_by_creation ON sessions (created_at, number, id);
  CREATE INDEX sessions_by_project ON sessions (project_id, created_at, number, id);
  CREATE INDEX sessions_by_number ON sessions (prefix, number);

  CREATE TABLE session_numbers (prefix TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT;
  CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
`;

/**
 * The operation ledger and the change log. Whatever only one state of an operation has is there in that state
 * and in no other. Sequence numbers are AUTOINCREMENT, so that none is given again if changes are ever removed;
 * a transaction that is undone gives its numbers back (sqlite.org/autoinc.html).
 */
const NOTHING_HALF_DONE = `
  CREATE TABLE operations (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    project_id TEXT NOT NULL,
    session_id TEXT,
    subject TEXT NOT NULL,
    input TEXT NOT NULL CHECK (json_valid(input)),
    progress TEXT NOT NULL CHECK (json_valid(progress)),
    state TEXT NOT NULL CHECK (state IN ('prepared', 'leased', 'completed', 'failed')),
    next_attempt_at INTEGER CHECK ((next_attempt_at IS NOT NULL) = (state = 'prepared')),
    lease_token TEXT CHECK ((lease_token IS NOT NULL) = (state = 'leased')),
    lease_owner TEXT CHECK ((lease_owner IS NOT NULL) = (state = 'leased')),
    lease_expires_at INTEGER CHECK ((lease_expires_at IS NOT NULL) = (state = 'leased')),
    result TEXT CHECK ((result IS NOT NULL) = (state IN ('completed', 'failed'))),
    error TEXT CHECK ((error IS NOT NULL) = (state = 'failed')),
    completed_at INTEGER CHECK ((completed_at IS NOT NULL) = (state = 'completed')),
    attempt INTEGER NOT NULL CHECK (attempt >= (state <> 'prepared')),
    version INTEGER NOT NULL CHECK (version >= 1),
    last_error TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL CHECK (updated_at >= created_at)
  ) STRICT;
  CREATE INDEX operations_unfinished ON operations (created_at, id)
    WHERE state NOT IN ('completed', 'failed');
  CREATE INDEX operations_by_session ON operations (session_id, created_at, id);

  CREATE TABLE changes (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    session_id TEXT,
    type TEXT NOT NULL,
    data TEXT NOT NULL CHECK (json_valid(data))
  ) STRICT;
`;

/**
 * Numbers are counted per prefix whatever its case, so that no two sessions differ in that alone: a file
 * system may take their folders for one. The greatest of numbers that were counted apart goes on.
 */
const NUMBERS_WITHOUT_CASE = `
  CREATE TABLE numbers (prefix TEXT PRIMARY KEY COLLATE NOCASE, last INTEGER NOT NULL) STRICT;
  INSERT INTO numbers SELECT lower(prefix), max(last) FROM session_numbers GROUP BY lower(prefix);
  DROP TABLE session_numbers;
  ALTER TABLE numbers RENAME TO session_numbers;

  DROP INDEX sessions_by_number;
  CREATE INDEX sessions_by_number ON sessions (prefix COLLATE NOCASE, number);
`;

/** What sessions of older versions never had: their agents were not heard yet by today's count. */
const LATER_METADATA = `
  UPDATE sessions
    SET metadata = json_insert(metadata, '$.heard', NULL, '$.previousAgentSessionIds', json('[]'))
    WHERE json_valid(metadata);
`;

/**
 * Turns and messages. The partial unique indexes hold two rules that no race may break: one turn of a session at
 * most goes on, and one message of it at most is on its way. As in `operations`, whatever only one state has is
 * there in that state and in no other.
 */
const TURNS_AND_MESSAGES = `
  CREATE TABLE turns (
    session_id TEXT NOT NULL,
    id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    sequence INTEGER NOT NULL CHECK (sequence >= 1),
    launch_id TEXT NOT NULL,
    origin TEXT NOT NULL,
    goal TEXT CHECK (json_valid(goal)),
    message_id TEXT,
    phase TEXT NOT NULL CHECK (phase IN ('submitted', 'running', 'waiting', 'settling', 'settled')),
    outcome TEXT CHECK ((outcome IS NOT NULL) = (phase = 'settled')),
    error TEXT CHECK (json_valid(error)),
    start_checkpoint TEXT CHECK (json_valid(start_checkpoint)),
    end_checkpoint TEXT CHECK (json_valid(end_checkpoint)),
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    updated_at INTEGER NOT NULL CHECK (updated_at >= created_at),
    settled_at INTEGER CHECK ((settled_at IS NOT NULL) = (phase = 'settled')),
    version INTEGER NOT NULL CHECK (version >= 1),
    PRIMARY KEY (session_id, id)
  ) STRICT;
  CREATE UNIQUE INDEX turns_by_sequence ON turns (session_id, sequence);
  CREATE UNIQUE INDEX turns_live ON turns (session_id) WHERE phase <> 'settled';

  CREATE TABLE messages (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 1),
    channel TEXT NOT NULL,
    request_id TEXT,
    text TEXT NOT NULL,
    state TEXT NOT NULL
      CHECK (state IN ('queued', 'delivering', 'delivered', 'unconfirmed', 'failed', 'cancelled')),
    delivery TEXT CHECK ((delivery IS NOT NULL) = (state IN ('delivering', 'delivered', 'unconfirmed')))
      CHECK (json_valid(delivery)),
    delivered_at INTEGER CHECK ((delivered_at IS NOT NULL) = (state = 'delivered')),
    error TEXT CHECK ((error IS NOT NULL) = (state = 'failed')) CHECK (json_valid(error)),
    cancel_reason TEXT CHECK ((cancel_reason IS NOT NULL) = (state = 'cancelled')),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL CHECK (updated_at >= created_at),
    version INTEGER NOT NULL CHECK (version >= 1)
  ) STRICT;
  CREATE UNIQUE INDEX messages_by_number ON messages (session_id, number);
  CREATE UNIQUE INDEX messages_by_request ON messages (session_id, request_id) WHERE request_id IS NOT NULL;
  CREATE UNIQUE INDEX messages_on_their_way ON messages (session_id) WHERE state = 'delivering';
  CREATE INDEX messages_queued ON messages (session_id, number) WHERE state = 'queued';
  CREATE INDEX messages_sent ON messages (session_id, number) WHERE state IN ('delivering', 'unconfirmed');
`;

/**
 * A prompt is long, and asked for by a restore alone: beside the row that every list reads, and as JSON, which
 * holds any text. The metadata says `true` where there is one.
 */
const PROMPTS_APART = `
  CREATE TABLE prompts (
    session_id TEXT PRIMARY KEY,
    prompt TEXT NOT NULL CHECK (json_valid(prompt))
  ) STRICT;
  INSERT INTO prompts
    SELECT id, metadata -> '$.prompt' FROM sessions
    WHERE CASE WHEN json_valid(metadata) THEN json_type(metadata, '$.prompt') = 'text' END;
  UPDATE sessions SET metadata = json_set(metadata, '$.prompt', json('true'))
    WHERE id IN (SELECT session_id FROM prompts);
`;

/** The whole schema, oldest step first. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, sql: FIRST_LIGHT },
  { version: 2, sql: NOTHING_HALF_DONE },
  { version: 3, sql: NUMBERS_WITHOUT_CASE },
  { version: 4, sql: LATER_METADATA },
  { version: 5, sql: TURNS_AND_MESSAGES },
  { version: 6, sql: PROMPTS_APART },
  { version: 7, sql: GOALS },
];

/** The schema number after all of `migrations`. */
export function newestVersion(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}

/** The schema number of an open database; 0 when it has none. */
export function schemaVersion(db: Database): number {
  return Number(db.pragma("user_version", { simple: true }));
}

/**
 * Brings an open database to the newest schema, in one transaction: all missing steps or none. A database
 * that has it already is only read; one that is damaged stays as it is.
 *
 * @throws AoError store_newer when its schema is newer than that; nothing is written.
 * @throws AoError store_corrupt when a page of it is damaged; nothing is written.
 */
export function migrate(db: Database, migrations: readonly Migration[]): void {
  const newest = newestVersion(migrations);

  function missing(): readonly Migration[] {
    const version = schemaVersion(db);
    if (version > newest) throw storeNewer(db.name, version);
    return migrations.filter((migration) => migration.version > version);
  }

  if (missing().length === 0) return;
  verifyDatabase(db);
  // Another process may have migrated between the look and the lock, so the steps are chosen again.
  db.transaction(() => {
    for (const { version, sql } of missing()) {
      db.exec(sql);
      db.pragma(`user_version = ${version}`);
    }
  }).immediate();
}
