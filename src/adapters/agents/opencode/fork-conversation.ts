import { createHash, randomUUID } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../../../domain/errors.ts";
import type { ForkAnswer, ForkRequest } from "../../../ports/agent.ts";
import { asMembers, type Members } from "../json-lines.ts";
import { entriesIn } from "./conversation-entries.ts";
import { conversationIdAt } from "./opencode-files.ts";
import { positionOf } from "./position.ts";
import { isKnown, readConversation, type StoredConversation, type StoredMessage } from "./read-database.ts";

/** It starts all of opencode: 2 s, on a machine with five times its load 15 s (1.18.33). */
const IMPORT_MS = 120_000;

interface Databases {
  /** What `opencode import` runs in. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The databases of the two conversations. */
  readonly from: string;
  readonly to: string;
}

/**
 * Copies a conversation up to a position through opencode's own import, which puts it into the worktree that it is
 * started in (1.18.33). The first conversation is only read. All ids are new and keep their times, so that what was
 * said keeps its position.
 */
export async function copyConversation(databases: Databases, request: ForkRequest): Promise<ForkAnswer> {
  const { source, throughPosition, launch } = request;
  const { from, to } = databases;
  const { agentSessionId, workspacePath } = source;
  const held = await readConversation(from, { id: agentSessionId, workspacePath });
  if (held === undefined) return { kind: "refused", why: `there is no conversation ${agentSessionId}` };
  if (entriesIn(held.messages).every(({ position }) => position !== throughPosition)) {
    return { kind: "refused", why: `it does not reach position ${throughPosition}` };
  }
  const id = conversationIdAt(Date.now());
  const failure = await importCopy(databases, request, copyOf(held, request, id)).then(
    () => null,
    errorMessage,
  );
  const { workspacePath: place } = launch;
  const made = await readConversation(to, { id, workspacePath: place }).catch(() => undefined);
  const last = made === undefined ? undefined : entriesIn(made.messages).at(-1)?.position;
  if (last === throughPosition) {
    return { kind: "accepted", agentSessionId: id, inheritedThrough: throughPosition };
  }
  // What cannot be looked at now may have been made.
  if (!(await isKnown(to, id).catch(() => true)))
    return { kind: "refused", why: `opencode import made nothing: ${failure ?? "it did not say why"}` };
  throw new Error(`opencode import left conversation ${id} unfinished: ${failure ?? "it did not say why"}`);
}

async function importCopy({ env, to }: Databases, { launch }: ForkRequest, copy: object): Promise<void> {
  const file = join(launch.launchDir, `${randomUUID()}.json`);
  await mkdir(launch.launchDir, { recursive: true, mode: 0o700 });
  try {
    await writeFile(file, JSON.stringify(copy), { mode: 0o600, flag: "wx" });
    const { execa } = await import("execa");
    // No plugin of the user's or of a session that this runs in has to hear of it.
    const own = { ...env, OPENCODE_DB: to, OPENCODE_PURE: "1", OPENCODE_DISABLE_AUTOUPDATE: "1" };
    const options = { cwd: launch.workspacePath, env: own, extendEnv: false, timeout: IMPORT_MS } as const;
    await execa("opencode", ["import", file], { ...options, stdin: "ignore" });
  } finally {
    await rm(file, { force: true });
  }
}

/** In the form of `opencode export`. */
function copyOf(held: StoredConversation, request: ForkRequest, id: string): object {
  const { session, messages } = held;
  const kept = messages.filter((message) => positionOf(message) <= request.throughPosition);
  const ids = new Map([[request.source.agentSessionId, id]]);
  for (const { id: old } of kept.flatMap((message) => [message, ...message.parts])) {
    ids.set(old, renewed(old, id));
  }
  const copy = {
    info: sessionInfo(session, id),
    messages: kept.map((message) => messageOf(message, request)),
  };
  return JSON.parse(JSON.stringify(copy), (_key, value: unknown) =>
    typeof value === "string" ? (ids.get(value) ?? value) : value,
  );
}

/** Its prefix and time, and another random end. */
function renewed(old: string, id: string): string {
  const end = createHash("sha256").update(`${id} ${old}`).digest("base64url").replace(/[-_]/g, "0");
  return `${/^[a-z]+_[0-9a-f]{12}/.exec(old)?.[0] ?? old.slice(0, 4)}${end.slice(0, 14)}`;
}

function sessionInfo(session: Members, id: string): object {
  const {
    slug,
    title,
    version,
    project_id: projectID,
    directory,
    agent,
    time_created,
    time_updated,
  } = session;
  return {
    ...{ id, slug, title, version, projectID, directory },
    ...(typeof agent === "string" && { agent }),
    time: { created: time_created, updated: time_updated },
  };
}

function messageOf(message: StoredMessage, { source, launch }: ForkRequest): object {
  const { id, data, parts } = message;
  const sessionID = source.agentSessionId;
  const path = asMembers(data["path"]);
  const own = path && { path: { ...path, cwd: launch.workspacePath, root: launch.workspacePath } };
  return {
    info: { ...data, ...own, id, sessionID },
    parts: parts.map((part) => ({ ...part.data, id: part.id, sessionID, messageID: id })),
  };
}
