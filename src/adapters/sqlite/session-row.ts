import type { SessionRecord } from "../../domain/session.ts";
import type { UnreadableSession } from "../../ports/session-store.ts";
import { parseJson } from "./parse-json.ts";
import { type StoredSession, sessionShape } from "./session-shape.ts";

/** A row of the table `sessions` as it is written. */
export interface SessionRow {
  readonly id: string;
  readonly project_id: string;
  readonly issue_id: string | null;
  readonly kind: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly terminated_at: number | null;
  readonly revision: number;
  readonly lifecycle: string;
  readonly metadata: string;
}

/** A row as it is read, with whether it has a prompt beside it: nothing is known of it yet. */
export type StoredSessionRow = { readonly [Column in keyof SessionRow | "has_prompt"]: unknown };

export type ParsedSession =
  | { readonly kind: "session"; readonly record: SessionRecord }
  | { readonly kind: "unreadable"; readonly row: UnreadableSession };

/** The row of a session, which does not tell whether there is a prompt beside it. */
export function sessionRow(record: SessionRecord): SessionRow {
  return {
    id: record.id,
    project_id: record.projectId,
    issue_id: record.issueId,
    kind: record.kind,
    created_at: record.createdAtMs,
    updated_at: record.updatedAtMs,
    terminated_at: record.terminatedAtMs,
    revision: record.lifecycle.revision,
    lifecycle: JSON.stringify(record.lifecycle),
    metadata: JSON.stringify(record.metadata),
  };
}

/** The session of a row. A row of which any part is missing or unknown is unreadable: nothing is made up. */
export function parseSessionRow(row: StoredSessionRow): ParsedSession {
  const candidate: unknown = {
    id: row.id,
    projectId: row.project_id,
    issueId: row.issue_id,
    kind: row.kind,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
    terminatedAtMs: row.terminated_at,
    lifecycle: parseJson(row.lifecycle),
    metadata: parseJson(row.metadata),
  };
  const flaw = sessionShape(candidate) ?? contradiction(candidate as StoredSession, row);
  if (flaw === null) {
    const { metadata, ...rest } = candidate as StoredSession;
    const { prompt: _prompt, ...known } = metadata;
    return { kind: "session", record: { ...rest, metadata: known } };
  }
  const issueId = row.issue_id === null ? null : String(row.issue_id);
  const known = { id: String(row.id), projectId: String(row.project_id), issueId };
  return { kind: "unreadable", row: { ...known, flaw } };
}

function contradiction({ lifecycle, metadata }: StoredSession, row: StoredSessionRow): string | null {
  if (lifecycle.revision !== row.revision) return "revision";
  return metadata.prompt === true && row.has_prompt !== 1 ? "metadata.prompt" : null;
}
