import { assertNever } from "../../domain/assert-never.ts";
import {
  parseLaunchId,
  parseMessageId,
  parseProjectId,
  parseSessionId,
  parseTurnId,
} from "../../domain/ids.ts";
import { isTimeMs } from "../../domain/iso-time.ts";
import {
  MESSAGE_CHANNELS,
  type Message,
  type MessageDelivery,
  type MessageGoal,
  type MessageState,
} from "../../domain/message.ts";
import type { GoalProvenance } from "../../domain/turn.ts";
import { parseJson } from "./parse-json.ts";
import { type Check, check, nullable, number, oneOf, parsedBy, shape, text } from "./shape.ts";
import { jsonColumn } from "./turn-row.ts";

/** A row of the table `messages` as it is written. */
export interface MessageRow {
  readonly id: string;
  readonly project_id: string;
  readonly session_id: string;
  readonly number: number;
  readonly channel: string;
  readonly request_id: string | null;
  readonly text: string;
  readonly goal: string | null;
  readonly state: MessageState["kind"];
  readonly delivery: string | null;
  readonly delivered_at: number | null;
  readonly error: string | null;
  readonly cancel_reason: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly version: number;
}

/** A row as it is read: nothing is known of it yet. */
export type StoredMessageRow = { readonly [Column in keyof MessageRow]: unknown };

/** A row that could be read, or the first part of it that is wrong. */
export type ParsedMessage =
  | { readonly kind: "message"; readonly message: Message }
  | { readonly kind: "unreadable"; readonly flaw: string };

type StateColumns = Pick<MessageRow, "state" | "delivery" | "delivered_at" | "error" | "cancel_reason">;

const time = check((value) => typeof value === "number" && isTimeMs(value));
const delivery = shape<MessageDelivery>({
  launchId: parsedBy(parseLaunchId),
  turnId: nullable(parsedBy(parseTurnId)),
  sinceMs: time,
});

const goal = shape<MessageGoal>({
  origin: oneOf(["goal_arm", "goal_continuation"] satisfies readonly MessageGoal["origin"][]),
  generation: shape<GoalProvenance>({ operationId: text, revision: number, repairEpoch: number }),
  number,
});

type StateOf<Kind extends MessageState["kind"]> = Extract<MessageState, { readonly kind: Kind }>;

const BY_KIND: { readonly [Kind in MessageState["kind"]]: Check } = {
  queued: shape<StateOf<"queued">>({ kind: text }),
  delivering: shape<StateOf<"delivering">>({ kind: text, delivery }),
  delivered: shape<StateOf<"delivered">>({ kind: text, delivery, atMs: time }),
  unconfirmed: shape<StateOf<"unconfirmed">>({ kind: text, delivery }),
  failed: shape<StateOf<"failed">>({
    kind: text,
    error: shape<StateOf<"failed">["error"]>({ code: text, message: text }),
  }),
  cancelled: shape<StateOf<"cancelled">>({ kind: text, reason: text }),
};

const stateKind = shape<Pick<MessageState, "kind">>({ kind: oneOf(Object.keys(BY_KIND)) });
const state: Check = (value) => stateKind(value) ?? BY_KIND[(value as MessageState).kind](value);

const messageShape = shape<Message>({
  id: parsedBy(parseMessageId),
  projectId: parsedBy(parseProjectId),
  sessionId: parsedBy(parseSessionId),
  number,
  channel: oneOf(MESSAGE_CHANNELS),
  requestId: nullable(text),
  text,
  goal: nullable(goal),
  state,
  createdAtMs: time,
  updatedAtMs: time,
  version: number,
});

/** The row of a message. */
export function messageRow(message: Message): MessageRow {
  return {
    ...stateColumns(message.state),
    id: message.id,
    project_id: message.projectId,
    session_id: message.sessionId,
    number: message.number,
    channel: message.channel,
    request_id: message.requestId,
    text: message.text,
    goal: message.goal === null ? null : jsonColumn(message.goal),
    created_at: message.createdAtMs,
    updated_at: message.updatedAtMs,
    version: message.version,
  };
}

const NO_STATE = { delivery: null, delivered_at: null, error: null, cancel_reason: null };

function stateColumns(of: MessageState): StateColumns {
  switch (of.kind) {
    case "queued":
      return { ...NO_STATE, state: of.kind };
    case "delivering":
    case "unconfirmed":
      return { ...NO_STATE, state: of.kind, delivery: jsonColumn(of.delivery) };
    case "delivered":
      return { ...NO_STATE, state: of.kind, delivery: jsonColumn(of.delivery), delivered_at: of.atMs };
    case "failed":
      return { ...NO_STATE, state: of.kind, error: jsonColumn(of.error) };
    case "cancelled":
      return { ...NO_STATE, state: of.kind, cancel_reason: of.reason };
    default:
      return assertNever(of);
  }
}

/** The message of a row. A row of which any part is missing or unknown is unreadable: nothing is made up. */
export function parseMessageRow(row: StoredMessageRow): ParsedMessage {
  const candidate: unknown = {
    id: row.id,
    projectId: row.project_id,
    sessionId: row.session_id,
    number: row.number,
    channel: row.channel,
    requestId: row.request_id,
    text: row.text,
    goal: row.goal === null ? null : parseJson(row.goal),
    state: parseState(row),
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
    version: row.version,
  };
  const flaw = messageShape(candidate);
  return flaw === null ? { kind: "message", message: candidate as Message } : { kind: "unreadable", flaw };
}

function parseState(row: StoredMessageRow): unknown {
  const { state: kind } = row;
  switch (kind) {
    case "delivering":
    case "unconfirmed":
      return { kind, delivery: parseJson(row.delivery) };
    case "delivered":
      return { kind, delivery: parseJson(row.delivery), atMs: row.delivered_at };
    case "failed":
      return { kind, error: parseJson(row.error) };
    case "cancelled":
      return { kind, reason: row.cancel_reason };
    default:
      return { kind };
  }
}
