import type { Database } from "better-sqlite3";
import type { SessionStore } from "../../ports/session-store.ts";

/** Values that the data directory remembers for ever. */
export function settingsTable(
  db: Database,
  { isReadOnly }: { readonly isReadOnly: boolean },
): Pick<SessionStore, "rememberOnce"> {
  const read = db.prepare<[string], { readonly value: string }>("SELECT value FROM settings WHERE key = ?");
  const insert = db.prepare<[string, string]>(
    "INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING",
  );

  return {
    rememberOnce(key, value) {
      const stored = read.get(key);
      if (stored !== undefined) return stored.value;
      if (isReadOnly) return value;
      insert.run(key, value);
      return read.get(key)?.value ?? value;
    },
  };
}
