import { parseSessionId, parseTurnId, type SessionId, type TurnId } from "./ids.ts";

/** The exact files of a workspace at the end of a turn, ignored ones excepted, kept as a commit. */
export interface Checkpoint {
  /** `refs/ao/checkpoints/<session>/<turn>` in the session's repository. */
  readonly ref: string;
  readonly sessionId: SessionId;
  readonly turnId: TurnId;
  /** Its parent is HEAD at that moment. One that would be the same as the last is the same commit. */
  readonly commit: string;
  /** HEAD at that moment; `null` when there was no commit. */
  readonly head: string | null;
}

const PREFIX = "refs/ao/checkpoints/";

/** The ref of a turn's checkpoint, or with no turn the beginning of all of a session. */
export function checkpointRef(sessionId: SessionId, turnId?: TurnId): string {
  return `${PREFIX}${sessionId}/${turnId ?? ""}`;
}

/** The session and the turn that a ref names; `undefined` when it is no checkpoint's. */
export function parseCheckpointRef(
  ref: string,
): { readonly sessionId: SessionId; readonly turnId: TurnId } | undefined {
  const [session = "", turn = "", ...more] = ref.startsWith(PREFIX)
    ? ref.slice(PREFIX.length).split("/")
    : [];
  const sessionId = parseSessionId(session);
  const turnId = parseTurnId(turn);
  return sessionId === undefined || turnId === undefined || more.length > 0
    ? undefined
    : { sessionId, turnId };
}
