type Brand<Name extends string> = string & { readonly __brand: Name };

/** `<prefix>-<n>`, unique in one data directory for ever: a number is never used twice. */
export type SessionId = Brand<"SessionId">;
export type ProjectId = Brand<"ProjectId">;
/** Names one start of an agent process; a restore makes a new one. */
export type LaunchId = Brand<"LaunchId">;
/** Names one turn of a session for ever. */
export type TurnId = Brand<"TurnId">;
/** Names one message of a session for ever. */
export type MessageId = Brand<"MessageId">;

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;
const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,52}-[1-9][0-9]{0,8}$/;
const PLAIN_ID = /^[A-Za-z0-9-]{1,64}$/;

/**
 * Parses untrusted text (argument, environment, database row, tmux output) as a session id.
 *
 * Returns `undefined` unless it is `<prefix>-<number>` of letters, digits, `_` and `-`. tmux reads `:`
 * and `.` in a target as separators, so neither may appear (tmux(1) COMMANDS, checked with 3.3a).
 */
export function parseSessionId(text: string): SessionId | undefined {
  return SESSION_ID.test(text) ? (text as SessionId) : undefined;
}

/** Parses a project id: 1-63 letters, digits, `_` and `-`, beginning with a letter or digit. */
export function parseProjectId(text: string): ProjectId | undefined {
  return NAME.test(text) ? (text as ProjectId) : undefined;
}

/** In place of a project where something is about all of them; an operation of several projects for one. */
export const EVERY_PROJECT = "every-project" as ProjectId;

/** Parses a launch id: 1-64 letters, digits and `-`. */
export function parseLaunchId(text: string): LaunchId | undefined {
  return PLAIN_ID.test(text) ? (text as LaunchId) : undefined;
}

/** Parses a turn id: 1-64 letters, digits and `-`. */
export function parseTurnId(text: string): TurnId | undefined {
  return PLAIN_ID.test(text) ? (text as TurnId) : undefined;
}

/** Parses a message id: 1-64 letters, digits and `-`. */
export function parseMessageId(text: string): MessageId | undefined {
  return PLAIN_ID.test(text) ? (text as MessageId) : undefined;
}
