import type { JsonValue } from "../domain/canonical-json.ts";
import type { SessionRecord } from "../domain/session.ts";
import { deriveStatus } from "../domain/status.ts";
import type { Change } from "../ports/change-log.ts";

/** What the change log tells of a session that was added. */
export function sessionCreated(record: SessionRecord, atMs: number): Omit<Change, "sequence"> {
  return { ...subjectOf(record), atMs, type: "session.created", data: dataOf(null, record) };
}

/** What the change log tells of a row that was written. Its two sides are equal when only metadata moved. */
export function sessionChanged(
  from: SessionRecord,
  to: SessionRecord,
  atMs: number,
): Omit<Change, "sequence"> {
  return { ...subjectOf(to), atMs, type: "session.changed", data: dataOf(viewOf(from), to) };
}

function subjectOf({ id, projectId }: SessionRecord): Pick<Change, "sessionId" | "projectId"> {
  return { sessionId: id, projectId };
}

function dataOf(from: JsonValue, to: SessionRecord): JsonValue {
  const { revision, session } = to.lifecycle;
  return { from, to: viewOf(to), revision, reason: session.reason };
}

function viewOf({ lifecycle, metadata }: SessionRecord): JsonValue {
  return {
    status: deriveStatus(lifecycle),
    session: lifecycle.session.state,
    runtime: lifecycle.runtime.state,
    pr: lifecycle.pr.state,
    activity: lifecycle.activity.state,
    workspaceFreed: metadata.workspaceFreedAtMs !== null,
  };
}
