import { randomUUID } from "node:crypto";
import { AoError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { hasKeys, refuseKeys } from "../../domain/message-keys.ts";
import type { MessageTarget, Messenger, Typed } from "../../ports/messenger.ts";
import type { ProcessTable } from "../../ports/process-table.ts";
import type { RuntimeTarget } from "../../ports/runtime.ts";
import { modeArgs, pressCommand, TYPED } from "./args.ts";
import type { OwnedDeps } from "./foreign.ts";
import { locate, locateReopened, type Sighting } from "./locate.ts";
import { pasteFlags, splitAtPasteEnd, typingCall } from "./paste.ts";
import { type TmuxAnswer, type TmuxProgram, tmuxRunner } from "./run-tmux.ts";
import { ownerMark } from "./server-record.ts";
import { notRunning, unavailable, unreachable } from "./unavailable.ts";

export interface TmuxMessengerOptions extends TmuxProgram {
  readonly processes: ProcessTable;
  /** As that of the runtime: it stands for the data directory. */
  readonly stateDir: string;
}

/** Each piece costs the server more than the one before; a thousand took it 0.1 s (tmux 3.3a). */
const MAX_PIECES = 1000;

/**
 * Messages into agents in tmux. Newlines at the end of a text are not typed, for the Enter that follows
 * ends it. Needs no lock: the server does all of one message at once (see `typingCall`).
 */
export function tmuxMessenger(options: TmuxMessengerOptions): Messenger {
  const { processes, stateDir } = options;
  const deps: OwnedDeps = { run: tmuxRunner(options), processes, owner: ownerMark(stateDir), stateDir };
  return {
    isInUse: (target) => isInUse(deps, target),
    send: (target, text) => type(deps, target, text.replace(/[\r\n]+$/, "")),
    press: (target, keys) => press(deps, target, keys),
  };
}

async function isInUse({ run }: OwnedDeps, { handle }: RuntimeTarget): Promise<boolean> {
  const answer = await run(handle.socketPath, modeArgs(handle.paneId));
  return answer.kind === "ok" && /^[1-9]/.test(answer.stdout);
}

async function press(deps: OwnedDeps, target: RuntimeTarget, keys: readonly string[]): Promise<Typed> {
  const { pane } = openPane(target.sessionId, await locateReopened(deps, target));
  const answer = await deps.run(target.handle.socketPath, pressCommand(pane, keys));
  return typedBy(deps, target, answer);
}

async function type(deps: OwnedDeps, target: MessageTarget, message: string): Promise<Typed> {
  const { pane, serverVersion } = openPane(target.sessionId, await locateReopened(deps, target));
  if (!(pane.bracketedPaste ?? target.bracketedPaste)) refuseKeys(target.sessionId, message);
  const pieces = splitAtPasteEnd(message);
  if (pieces.length > MAX_PIECES) {
    throw refused(
      target.sessionId,
      `the text ends a paste ${pieces.length - 1} times, more than ${MAX_PIECES}`,
    );
  }
  const call = typingCall({
    pane,
    pieces,
    bufferName: `ao-${randomUUID()}`,
    flags: pasteFlags(serverVersion),
    onlyBracketed: pane.bracketedPaste === true && hasKeys(message),
    ...(target.enterDelayMs !== undefined && { enterDelayMs: target.enterDelayMs }),
  });
  const answer = await deps.run(target.handle.socketPath, call.command, call.input);
  return typedBy(deps, target, answer);
}

async function typedBy(deps: OwnedDeps, target: RuntimeTarget, answer: TmuxAnswer): Promise<Typed> {
  // Without an answer it may have been typed: to say that it was not would have it sent twice.
  if (answer.kind === "failed") return { kind: "unknown", cause: answer.cause };
  if (answer.kind === "refused" && answer.refusal === "server_lost") {
    return { kind: "unknown", cause: answer.message };
  }
  if (answer.kind === "missing") throw unavailable(answer.cause);
  if (answer.kind === "ok" && answer.stdout.includes(TYPED)) return { kind: "typed" };
  openPane(target.sessionId, await locate(deps, target));
  if (await isInUse(deps, target)) throw unavailable("its terminal is in use");
  throw refused(
    target.sessionId,
    answer.kind === "refused" ? answer.message : "the terminal changed meanwhile",
  );
}

function refused(sessionId: SessionId, why: string): AoError {
  return new AoError("delivery_failed", `the message for ${sessionId} was not typed: ${why}`);
}

function openPane(sessionId: SessionId, { location, process }: Sighting) {
  if (location.kind === "unknown") throw unreachable(location);
  const isOpen = location.kind === "found" && !location.pane.dead && process.kind !== "dead";
  if (!isOpen) throw notRunning(sessionId);
  if (location.pane.inputOff) throw refused(sessionId, "its terminal takes no input (tmux select-pane -d)");
  return location;
}
