import { parseSessionId, parseTurnId, type SessionId, type TurnId } from "./ids.ts";
import type { TurnEdge } from "./turn.ts";

/** The exact files of a workspace at one end of a turn, ignored ones excepted, kept as a commit. */
export interface Checkpoint {
  /** In the session's repository: as `checkpointRef` says. */
  readonly ref: string;
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  readonly edge: TurnEdge;
  /** Its parent is HEAD at that moment. One that would be the same as the last is the same commit. */
  readonly commit: string;
  /** HEAD at that moment; `null` when there was no commit. */
  readonly head: string | null;
}

const PREFIX = "refs/ao/checkpoints/";
/** No turn id has a full stop. */
const START = ".start";

/** Where all checkpoints of a session are: `refs/ao/checkpoints/<session>/`. */
export function checkpointsOf(sessionId: SessionId): string {
  return `${PREFIX}${sessionId}/`;
}

/** `refs/ao/checkpoints/<session>/<turn>` for the end of a turn; with `.start` after it for its start. */
export function checkpointRef(sessionId: SessionId, turnId: TurnId, edge: TurnEdge): string {
  return `${checkpointsOf(sessionId)}${turnId}${edge === "start" ? START : ""}`;
}

/** What a ref names; `undefined` when it is no checkpoint's. */
export function parseCheckpointRef(
  ref: string,
): Pick<Checkpoint, "sessionId" | "turnId" | "edge"> | undefined {
  const [session = "", name = "", ...more] = ref.startsWith(PREFIX)
    ? ref.slice(PREFIX.length).split("/")
    : [];
  const edge = name.endsWith(START) ? "start" : "end";
  const sessionId = parseSessionId(session);
  const turnId = parseTurnId(edge === "start" ? name.slice(0, -START.length) : name);
  if (sessionId === undefined || turnId === undefined || more.length > 0) return undefined;
  return { sessionId, turnId, edge };
}
