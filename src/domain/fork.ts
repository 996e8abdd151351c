import { jsonMembers } from "./canonical-json.ts";
import type { Operation } from "./operation.ts";
import { type OperationJson, toOperationJson } from "./operation-json.ts";

/**
 * How far a fork is. `dispatching`: its agent is being asked to make the second conversation, once. `unknown`: nobody
 * can tell whether it did, and it is never asked again.
 */
export const FORK_STATUSES = [
  "prepared",
  "dispatching",
  "provider_accepted",
  "committed",
  "failed",
  "unknown",
] as const;
export type ForkStatus = (typeof FORK_STATUSES)[number];

/** How far a fork is, by its operation. */
export function forkStatus({ state, progress }: Pick<Operation, "state" | "progress">): ForkStatus {
  if (state.kind === "completed") return "committed";
  const told =
    state.kind === "failed" ? jsonMembers(state.result)?.["status"] : jsonMembers(progress)?.["phase"];
  const known = FORK_STATUSES.find((status) => status === told);
  return known ?? (state.kind === "failed" ? "failed" : "prepared");
}

/** The conversation that the agent made for a fork; `null` while there is none, or its id is not known. */
export function acceptedConversation({ progress }: Pick<Operation, "progress">): string | null {
  const id = jsonMembers(jsonMembers(progress)?.["accepted"] ?? null)?.["agentSessionId"];
  return typeof id === "string" ? id : null;
}

/** A fork for readers outside. */
export interface ForkJson extends OperationJson {
  readonly status: ForkStatus;
  readonly sessionId: string | null;
  readonly parentId: string | null;
  readonly turnId: string | null;
  readonly agentSessionId: string | null;
}

/** Every key is present. */
export function toForkJson(operation: Operation): ForkJson {
  const origin = jsonMembers(jsonMembers(operation.progress)?.["frozen"] ?? null);
  const textOf = (value: unknown) => (typeof value === "string" ? value : null);
  return {
    ...toOperationJson(operation),
    status: forkStatus(operation),
    sessionId: operation.sessionId,
    parentId: textOf(jsonMembers(operation.input)?.["sourceId"]),
    turnId: textOf(origin?.["turnId"]),
    agentSessionId: acceptedConversation(operation),
  };
}

/** The title of the next fork of a family, by the title of its root; `forks` that are there do not count the root. */
export function forkTitle(root: string | null, forks: number): string | null {
  return root === null ? null : `${root} (${forks + 2})`;
}
