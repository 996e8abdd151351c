import type { Database } from "better-sqlite3";
import type { SessionId } from "../../domain/ids.ts";
import { rowUnreadable, storeError } from "./errors.ts";
import { parseJson } from "./parse-json.ts";

/** The prompts of sessions. Rows are written beside those of their sessions, in one transaction. */
export interface PromptTable {
  /** @throws AoError store_corrupt when there is none, or it cannot be read. */
  read(id: SessionId): string;
  /** Writes nothing when it is stored already. */
  write(id: SessionId, prompt: string | null): void;
}

export function promptTable(db: Database): PromptTable {
  const select = db.prepare<[string], { readonly prompt: unknown }>(
    "SELECT prompt FROM prompts WHERE session_id = ?",
  );
  const upsert = db.prepare<[string, string]>(
    `INSERT INTO prompts (session_id, prompt) VALUES (?, ?)
     ON CONFLICT (session_id) DO UPDATE SET prompt = excluded.prompt WHERE prompt <> excluded.prompt`,
  );
  const remove = db.prepare<[string]>("DELETE FROM prompts WHERE session_id = ?");

  function stored(id: SessionId): unknown {
    try {
      return parseJson(select.get(id)?.prompt);
    } catch (error) {
      // It is read when somebody asks for it, outside of any call of the store.
      throw storeError(error, db.name);
    }
  }

  return {
    read(id) {
      const prompt = stored(id);
      if (typeof prompt === "string") return prompt;
      throw rowUnreadable(db.name, `has lost the prompt of session ${id}`);
    },
    write(id, prompt) {
      if (prompt === null) remove.run(id);
      else upsert.run(id, JSON.stringify(prompt));
    },
  };
}
