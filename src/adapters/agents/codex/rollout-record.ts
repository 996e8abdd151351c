import { asMembers, type Members } from "../json-lines.ts";

/** One line of a conversation's log: `type` and `payload`, written at `timestamp` (0.171.0). */
export type RolloutRecord = Members;

/** What a line says happened; `undefined` for other lines. */
export function eventIn(record: RolloutRecord): Members | undefined {
  return record["type"] === "event_msg" ? asMembers(record["payload"]) : undefined;
}

/** How a turn ended. */
export type TurnEnd =
  | { readonly kind: "completed"; readonly turnId: string }
  | { readonly kind: "interrupted"; readonly turnId: string }
  | { readonly kind: "failed"; readonly turnId: string; readonly code: string; readonly message: string };

/** The end of a turn that a line tells; `undefined` when it tells none. */
export function turnEndIn(record: RolloutRecord): TurnEnd | undefined {
  const { type, turn_id: id, error } = eventIn(record) ?? {};
  const turnId = typeof id === "string" ? id : "";
  if (type === "turn_aborted") return { kind: "interrupted", turnId };
  if (type !== "task_complete") return undefined;
  const failure = asMembers(error);
  if (failure === undefined) return { kind: "completed", turnId };
  const { message, codex_error_info: info } = failure;
  return {
    ...{ kind: "failed", turnId, code: codeOf(info) },
    message: typeof message === "string" ? message : "",
  };
}

/** A word, or an object whose one member is named by it. */
function codeOf(info: unknown): string {
  const [named] = Object.keys(asMembers(info) ?? {});
  const code = typeof info === "string" ? info : named;
  return code === undefined || code === "" || code === "other" ? "agent_error" : code;
}

export function isTurnStart(record: RolloutRecord): boolean {
  return eventIn(record)?.["type"] === "task_started";
}

/** The call that a line gives the result of: a part of it, when the tool goes on in the background. */
export function resultIn(record: RolloutRecord): string | undefined {
  const { type, call_id: id } = asMembers(record["payload"]) ?? {};
  return String(type).endsWith("_call_output") && typeof id === "string" ? id : undefined;
}

/** The call of a tool that a line tells. */
export function callIn(record: RolloutRecord): string | undefined {
  const { type, call_id: id } = asMembers(record["payload"]) ?? {};
  return String(type).endsWith("_call") && typeof id === "string" ? id : undefined;
}

/** Which conversation a log is of, and where it was held, by its first record. */
export interface Head {
  readonly id: string;
  readonly workspacePath: string;
}

export function headIn(record: RolloutRecord | undefined): Head | undefined {
  if (record?.["type"] !== "session_meta") return undefined;
  const { id, cwd } = asMembers(record["payload"]) ?? {};
  return typeof id === "string" && typeof cwd === "string" ? { id, workspacePath: cwd } : undefined;
}
