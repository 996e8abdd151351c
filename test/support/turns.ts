import { type MessageId, parseMessageId, parseTurnId, type TurnId } from "../../src/domain/ids.ts";
import type { LiveTurnState, Turn, TurnState } from "../../src/domain/turn.ts";
import type { TurnTransition } from "../../src/domain/turn-transitions.ts";
import { launchId, projectId, sessionId, T0_MS } from "./builders.ts";

/** A turn id from its text. */
export function turnId(text = "turn-1"): TurnId {
  const id = parseTurnId(text);
  if (id === undefined) throw new Error(`not a turn id: ${text}`);
  return id;
}

/** A message id from its text. */
export function messageId(text = "message-1"): MessageId {
  const id = parseMessageId(text);
  if (id === undefined) throw new Error(`not a message id: ${text}`);
  return id;
}

/** What `aTurn` may be told: ids as plain text. */
export type TurnOverrides<State extends TurnState> = Partial<
  Omit<Turn<State>, "projectId" | "sessionId" | "turnId" | "launchId" | "state">
> & {
  readonly projectId?: string;
  readonly sessionId?: string;
  readonly turnId?: string;
  readonly launchId?: string;
};

/** Turn `turn-1` of session `app-1`, born at `T0_MS`, in the state given. */
export function aTurnIn<State extends TurnState>(
  state: State,
  overrides: TurnOverrides<State> = {},
): Turn<State> {
  const {
    projectId: project = "app",
    sessionId: session = "app-1",
    turnId: id = "turn-1",
    launchId: launch = "launch-1",
    ...rest
  } = overrides;
  return {
    projectId: projectId(project),
    sessionId: sessionId(session),
    turnId: turnId(id),
    launchId: launchId(launch),
    sequence: 1,
    origin: "user_prompt",
    goal: null,
    messageId: null,
    state,
    error: null,
    checkpoints: { start: null, end: null },
    createdAtMs: T0_MS,
    startedAtMs: state.kind === "submitted" ? null : T0_MS,
    updatedAtMs: T0_MS,
    version: 1,
    ...rest,
  };
}

/** The same, running. */
export function aTurn(overrides: TurnOverrides<LiveTurnState> = {}): Turn<LiveTurnState> {
  return aTurnIn<LiveTurnState>({ kind: "running" }, overrides);
}

/** The same, completed at `T0_MS`. */
export function aSettledTurn(overrides: TurnOverrides<TurnState> = {}): Turn {
  return aTurnIn<TurnState>({ kind: "settled", outcome: "completed", atMs: T0_MS }, overrides);
}

/** Turn `turn-1` of session `app-1` begins to run at `T0_MS`. */
export function aTransition(
  overrides: Partial<Omit<TurnTransition, "turnId" | "birth">> & {
    readonly turnId?: string;
    readonly birth?: Partial<TurnTransition["birth"]>;
  } = {},
): TurnTransition {
  const { turnId: id = "turn-1", birth, ...rest } = overrides;
  return {
    projectId: projectId("app"),
    sessionId: sessionId("app-1"),
    turnId: turnId(id),
    phase: "running",
    occurredAtMs: T0_MS,
    birth: { launchId: launchId("launch-1"), origin: "user_prompt", goal: null, messageId: null, ...birth },
    ...rest,
  };
}
