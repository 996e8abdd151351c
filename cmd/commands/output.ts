import { type Command, Option } from "commander";
import type { Ao } from "../../src/compose.ts";
import { isAoError } from "../../src/domain/errors.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import { printable } from "../../src/domain/printable.ts";
import { captureOutput, hasEnded } from "../../src/lifecycle/capture-output.ts";
import { resolveSessionId } from "../../src/lifecycle/resolve-session-id.ts";
import { countFlag, jsonOption, switchOption } from "../flags.ts";
import type { Host } from "../host.ts";
import { type Invocation, refuseTogether } from "../invocation.ts";
import { newLines } from "../new-lines.ts";

const MAX_LINES = 100_000;
const FOLLOW_EVERY_MS = 300;

interface OutputFlags {
  readonly lines: string;
  readonly follow: boolean;
}

interface Following {
  readonly ao: Ao;
  readonly id: SessionId;
  readonly count: number;
  readonly isClosed: () => boolean;
  /** Resolves when they went out. */
  readonly write: (lines: readonly string[]) => Promise<void>;
}

/** What the screen shows; `undefined` once a terminal that was there is gone. */
async function screenOf(
  { ao, id, count }: Following,
  wasThere: boolean,
): Promise<readonly string[] | undefined> {
  try {
    return await captureOutput(ao.deps, id, count);
  } catch (error) {
    if (wasThere && isAoError(error, "not_running")) return undefined;
    throw error;
  }
}

/** Prints what comes until the session's agent is gone or nobody reads any more. */
async function follow(following: Following): Promise<void> {
  const { ao, id, isClosed, write } = following;
  let before: readonly string[] | undefined;
  for (let isOver = false; !isOver && !isClosed(); ) {
    // Looked at before the screen is read: the last words of an agent are printed, too.
    isOver = await hasEnded(ao.deps, id);
    const after = await screenOf(following, before !== undefined);
    if (after === undefined) return;
    await write(newLines(before ?? [], after));
    before = after;
    if (!isOver) await ao.deps.clock.sleep(FOLLOW_EVERY_MS);
  }
}

async function output(invocation: Invocation, name: string, flags: OutputFlags): Promise<undefined> {
  refuseTogether([flags.follow, "--follow"], [invocation.json, "--json"]);
  const count = countFlag("--lines", flags.lines, MAX_LINES);
  const ao = await invocation.open("reading");
  const id = resolveSessionId(ao.deps, name);
  if (flags.follow) {
    const { stdout } = invocation.io;
    const write = (lines: readonly string[]) => {
      if (lines.length > 0) stdout.write(`${lines.map(printable).join("\n")}\n`);
      return stdout.drained();
    };
    await follow({ ao, id, count, write, isClosed: () => stdout.writable === false });
    return undefined;
  }
  const lines = await captureOutput(ao.deps, id, count);
  await invocation.print({ lines }, () => lines.map(printable));
  return undefined;
}

/** `ao output`. */
export function outputCommand(host: Host): Command {
  return host
    .command({
      usage: "output <session>",
      purpose: "Print what a session's terminal shows",
      more: "With --follow it prints what comes until the agent ends; a screen that is drawn anew is printed anew.",
      examples: [
        ["ao output app-7 -n 40", "the last 40 lines"],
        ["ao output app-7 -f", "keep watching without attaching"],
      ],
    })
    .addOption(new Option("-n, --lines <count>", "how many lines, history included").default("200"))
    .addOption(switchOption("-f, --follow", "go on printing what comes"))
    .addOption(jsonOption())
    .action(host.action(output));
}
