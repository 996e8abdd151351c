import type { DataDirectory } from "../adapters/data-directory/data-directory.ts";
import { memoryStore } from "../adapters/memory/store.ts";
import { dataLayout } from "../domain/data-layout.ts";
import { AoError } from "../domain/errors.ts";
import type { Store } from "../ports/store.ts";

/**
 * `create` makes the data directory and the store when they are missing. `existing` makes nothing: a
 * missing store is an empty one. `reading` writes nothing either, so that it also works on a full disk and
 * where nothing may be written. `tools` opens no store at all.
 */
export type Access = "create" | "existing" | "reading" | "tools";

export interface OpenedStore {
  readonly store: Store;
  /** There is none yet: what is written here is forgotten. */
  readonly isNew: boolean;
  readonly dataDir: string;
}

/** @throws AoError store_corrupt also for a store that is gone while worktrees of its sessions are there. */
export async function openStore(
  directory: DataDirectory,
  { access, mayLackStore = false }: { readonly access: Access; readonly mayLackStore?: boolean },
): Promise<OpenedStore> {
  if (access === "tools") return { store: memoryStore(), isNew: true, dataDir: directory.path };
  const dataDir = access === "create" ? directory.prepare() : directory.resolved();
  const { database } = dataLayout(dataDir);
  const holdsStore = () => directory.holdsAny([database, `${database}-wal`]);
  const isThere = holdsStore();
  // A first spawn in another process makes the database before its worktree.
  if (!isThere && !mayLackStore && directory.holdsWorktrees() && !holdsStore())
    throw storeGone(dataDir, database);
  const isNew = access !== "create" && !isThere;
  if (isNew) return { store: memoryStore(), isNew, dataDir };
  const { sqliteStore } = await import("../adapters/sqlite/store.ts");
  return { store: sqliteStore({ path: database, isReadOnly: access === "reading" }), isNew, dataDir };
}

/** An empty list would say that there are no sessions, and a new one would take their numbers. */
function storeGone(dataDir: string, database: string): AoError {
  return new AoError(
    "store_corrupt",
    `the database ${database} is gone, and worktrees of its sessions are there`,
    {
      hint: `put a backup in its place (ao reconcile names what is there without one); or begin anew with another AO_DATA_DIR, and take what you need from ${dataDir}/worktrees`,
      details: { path: database },
    },
  );
}
