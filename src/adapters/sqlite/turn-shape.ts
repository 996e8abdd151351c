import {
  parseLaunchId,
  parseMessageId,
  parseProjectId,
  parseSessionId,
  parseTurnId,
} from "../../domain/ids.ts";
import { isTimeMs } from "../../domain/iso-time.ts";
import {
  type GoalProvenance,
  type LiveTurnState,
  type SettledTurnState,
  TURN_ORIGINS,
  TURN_OUTCOMES,
  TURN_PHASES,
  type Turn,
  type TurnCheckpoint,
  type TurnError,
  type TurnState,
} from "../../domain/turn.ts";
import { type Check, check, nullable, number, oneOf, optional, parsedBy, shape, text } from "./shape.ts";

const time = check((value) => typeof value === "number" && isTimeMs(value));
const checkpoint = nullable(shape<TurnCheckpoint>({ ref: text, commit: text, takenAtMs: optional(time) }));

const live = shape<LiveTurnState>({ kind: oneOf(TURN_PHASES) });
const settled = shape<SettledTurnState>({ kind: text, outcome: oneOf(TURN_OUTCOMES), atMs: time });
const state: Check = (value) =>
  live(value) ?? ((value as TurnState).kind === "settled" ? settled(value) : null);

/** Everything a stored turn must have. */
export const turnShape = shape<Turn>({
  projectId: parsedBy(parseProjectId),
  sessionId: parsedBy(parseSessionId),
  turnId: parsedBy(parseTurnId),
  sequence: number,
  launchId: parsedBy(parseLaunchId),
  origin: oneOf(TURN_ORIGINS),
  goal: nullable(shape<GoalProvenance>({ operationId: text, revision: number, repairEpoch: number })),
  messageId: nullable(parsedBy(parseMessageId)),
  state,
  error: nullable(shape<TurnError>({ code: text, message: text })),
  checkpoints: shape<Turn["checkpoints"]>({ start: checkpoint, end: checkpoint }),
  createdAtMs: time,
  startedAtMs: nullable(time),
  updatedAtMs: time,
  version: number,
});
