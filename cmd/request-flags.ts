import { type Command, Option } from "commander";
import { AoError } from "../src/domain/errors.ts";
import { parseRequestId } from "../src/domain/user-text.ts";
import { durationFlag, switchOption } from "./flags.ts";

/** How a command that changes a session is repeated. */
export interface RequestFlags {
  readonly requestId?: string;
}

/** Whether to wait for another operation of the session. */
export interface WaitFlags {
  readonly wait: boolean;
  readonly timeout?: string;
}

const DEFAULT_WAIT = "10m";

/** `--request-id`, the same everywhere. */
export function requestIdOption(): Option {
  return new Option(
    "--request-id <id>",
    "an id of your choice: repeated with it, the command does nothing and gives the first result",
  );
}

/** @throws AoError usage when it is no single line of text. */
export function requestIdOf({ requestId }: RequestFlags): string | null {
  return requestId === undefined ? null : parseRequestId(requestId);
}

/** Adds `--wait` and `--timeout`. */
export function addWaitFlags(command: Command): Command {
  return command
    .addOption(switchOption("--wait", "wait until another operation of the session has ended"))
    .option("--timeout <duration>", `with --wait: for how long at most (default: ${DEFAULT_WAIT})`);
}

/** How long to wait, in milliseconds. @throws AoError usage */
export function waitMsOf({ wait, timeout }: WaitFlags): number {
  if (!wait && timeout !== undefined) {
    throw new AoError("usage", "--timeout is for --wait alone", { hint: "add --wait" });
  }
  return wait ? durationFlag("--timeout", timeout ?? DEFAULT_WAIT) : 0;
}
