import { dataLayout } from "../../domain/data-layout.ts";
import { parseSessionId, type SessionId } from "../../domain/ids.ts";
import type { SessionDeps } from "../deps.ts";

type Deps = Pick<SessionDeps, "files" | "dataDir">;

/** A session of which something was said that could not be saved, and why. */
export interface Unsaved {
  readonly id: SessionId;
  readonly cause: string;
}

function folderOf({ dataDir }: Deps): string {
  return dataLayout(dataDir).unsavedTranscripts;
}

/** The sessions whose last save failed, by id. The next save of one of them tries again. A pure read. */
export async function unsavedIds(deps: Deps): Promise<readonly SessionId[]> {
  const names = await deps.files.names(folderOf(deps));
  return names.flatMap((name) => parseSessionId(name) ?? []).sort();
}

/** The same, with why. */
export async function unsavedTranscripts(deps: Deps): Promise<readonly Unsaved[]> {
  const ids = await unsavedIds(deps);
  const read = async (id: SessionId) => ({ id, cause: (await unsavedCause(deps, id)) ?? "" });
  return (await Promise.all(ids.map(read))).filter(({ cause }) => cause !== "");
}

/** Why the last save of a session failed; `null` when it did not. */
export async function unsavedCause(deps: Deps, id: SessionId): Promise<string | null> {
  const cause = await deps.files.read(`${folderOf(deps)}/${id}`);
  return cause === undefined ? null : cause || "no space was left to say why";
}

/** Remembers that a save failed: on a full disk as a name alone, which takes no room. Never rejects. */
export async function markUnsaved(deps: Deps, { id, cause }: Unsaved): Promise<void> {
  const put = (text: string) => deps.files.write(`${folderOf(deps)}/${id}`, text);
  await put(cause)
    .catch(() => put(""))
    .catch(() => undefined);
}

/** Forgets it after a save. */
export async function clearUnsaved(deps: Deps, id: SessionId): Promise<void> {
  await deps.files.removeTree(`${folderOf(deps)}/${id}`);
}
