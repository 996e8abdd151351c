import type { Database } from "better-sqlite3";
import type { SessionId } from "../../domain/ids.ts";
import { rowUnreadable } from "./errors.ts";
import { parseJson } from "./parse-json.ts";

/** The prompts of sessions. Rows are written beside those of their sessions, in one transaction. */
export interface PromptTable {
  /** `null` when its session has none. @throws AoError store_corrupt when it is lost, or cannot be read. */
  read(id: SessionId): string | null;
  /** Once, before the row of its session; replaces what lies there of none. */
  write(id: SessionId, prompt: string): void;
}

interface PromptRow {
  /** Null where the session has a row that tells of no prompt. */
  readonly is_told: 1 | null;
  readonly prompt: unknown;
}

/** The prompts of the database of `db`; its schema has to be the newest. */
export function promptTable(db: Database): PromptTable {
  const select = db.prepare<[string], PromptRow>(
    `SELECT metadata ->> '$.prompt' AS is_told, prompts.prompt
     FROM sessions LEFT JOIN prompts ON session_id = id WHERE id = ?`,
  );
  const upsert = db.prepare<[string, string]>(
    "INSERT OR REPLACE INTO prompts (session_id, prompt) VALUES (?, ?)",
  );

  return {
    read(id) {
      const row = select.get(id);
      if (row === undefined || row.is_told === null) return null;
      const prompt = parseJson(row.prompt);
      if (typeof prompt === "string") return prompt;
      throw rowUnreadable(db.name, `has lost the prompt of session ${id}`);
    },
    write: (id, prompt) => void upsert.run(id, JSON.stringify(prompt)),
  };
}
