import { type Command, Option } from "commander";
import type { Ao } from "../../src/compose.ts";
import { AoError } from "../../src/domain/errors.ts";
import { isoTime } from "../../src/domain/iso-time.ts";
import type { Change } from "../../src/ports/change-log.ts";
import { jsonOption, switchOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";

const PAGE = 500;
const FOLLOW_EVERY_MS = 200;
/** How often to open a store anew that nobody has made yet, or that could only be copied. */
const STORE_EVERY_MS = 1000;

interface EventsFlags {
  readonly after: string;
  readonly follow: boolean;
}

/** @throws AoError usage */
function sequenceFlag(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new AoError("usage", `--after must be a sequence number, is ${JSON.stringify(text)}`, {
    hint: "the sequence of the last event that was read; 0 for all",
  });
}

/** An event as one line of JSON. */
function lineOf({ sequence, atMs, projectId, sessionId, type, data }: Change): string {
  return JSON.stringify({ sequence, at: isoTime(atMs), projectId, sessionId, type, data });
}

/**
 * Prints all that is there after `sequence` and returns the last number that was printed. Of a long log one page is
 * in memory, however slowly it is read.
 */
async function printAfter({ deps }: Ao, { io }: Invocation, sequence: number): Promise<number> {
  let last = sequence;
  while (io.stdout.writable) {
    const changes = deps.changes.after(last, PAGE);
    if (changes.length > 0) io.stdout.write(`${changes.map(lineOf).join("\n")}\n`);
    last = changes.at(-1)?.sequence ?? last;
    await io.stdout.drained();
    if (changes.length < PAGE) break;
  }
  return last;
}

async function follow(invocation: Invocation, after: number): Promise<void> {
  let last = after;
  while (invocation.io.stdout.writable) {
    const ao = await invocation.open("reading");
    const isWatched = !ao.isNew && !ao.isSnapshot;
    do {
      last = await printAfter(ao, invocation, last);
      await ao.deps.clock.sleep(isWatched ? FOLLOW_EVERY_MS : STORE_EVERY_MS);
    } while (isWatched && invocation.io.stdout.writable);
    ao.close();
  }
}

async function events(invocation: Invocation, flags: EventsFlags): Promise<undefined> {
  const after = sequenceFlag(flags.after);
  if (flags.follow) await follow(invocation, after);
  else await printAfter(await invocation.open("reading"), invocation, after);
  return undefined;
}

/** `ao events`. */
export function eventsCommand(host: Host): Command {
  return host
    .command({
      usage: "events",
      purpose: "Print the change log, one JSON object a line",
      more: "Each change has a number, one more than the one before; reading on from the last one misses none.",
      examples: [
        ["ao events --after 120", "what has changed since event 120"],
        ["ao events --follow", "all of it, and what comes, until it is interrupted"],
      ],
    })
    .addOption(new Option("--after <sequence>", "only what came after this number").default("0"))
    .addOption(switchOption("-f, --follow", "go on printing what comes"))
    .addOption(jsonOption())
    .action(host.action(events));
}
