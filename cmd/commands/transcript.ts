import { type Command, Option } from "commander";
import type { Ao } from "../../src/compose.ts";
import { AoError } from "../../src/domain/errors.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import { isoTime } from "../../src/domain/iso-time.ts";
import { resolveSessionId } from "../../src/lifecycle/resolve-session-id.ts";
import {
  forEachMessage,
  type PageOptions,
  readPage,
  type TranscriptPage,
} from "../../src/lifecycle/transcripts/read-page.ts";
import { type RepairOutcome, repairTranscript } from "../../src/lifecycle/transcripts/repair-transcript.ts";
import { stillInFlight } from "../../src/lifecycle/transcripts/summarize-transcript.ts";
import { isSound, verifyTranscripts } from "../../src/lifecycle/transcripts/verify-transcripts.ts";
import { listTurns } from "../../src/lifecycle/turns/list-turns.ts";
import { counted } from "../counted.ts";
import { countFlag, jsonOption, sessionIds } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { table } from "../table.ts";
import {
  gapsJson,
  messageJson,
  messageLines,
  messageMarkdown,
  reportCells,
  reportJson,
  turnInFlightText,
} from "../transcript-view.ts";
import { pruneCommand } from "./transcript-prune.ts";

const MAX_PAGE = 10_000;
/** Only the newest can be in flight. */
const MAX_TURNS = 20;
const MAX_NUMBER = 999_999_999;

interface ShowFlags {
  readonly limit: string;
  readonly from?: string;
}

function pageJson(id: SessionId, page: TranscriptPage) {
  const { head, savedAtMs, gaps, health, missing, salvage, turnInFlight, messages, next } = page;
  return {
    ...{ id, messages: head.count, digest: head.digest, savedAt: isoTime(savedAtMs), gaps: gapsJson(gaps) },
    ...{ health, missing, salvage, turnInFlight },
    ...{ data: messages.map(messageJson), next: next === null ? null : next + 1 },
  };
}

/** With what is known by now of a turn whose end was not saved. */
async function freshPage({ deps }: Ao, id: SessionId, options: PageOptions): Promise<TranscriptPage> {
  const page = await readPage(deps, id, options);
  if (page.turnInFlight === null) return page;
  const { turns } = await listTurns(deps, id, { limit: MAX_TURNS, stored: false });
  return { ...page, turnInFlight: stillInFlight(page.turnInFlight, turns) };
}

async function show(invocation: Invocation, name: string, flags: ShowFlags): Promise<undefined> {
  const limit = countFlag("--limit", flags.limit, MAX_PAGE);
  const first = flags.from === undefined ? null : countFlag("--from", flags.from, MAX_NUMBER) - 1;
  const ao = await invocation.open("reading");
  const id = resolveSessionId(ao.deps, name);
  const page = await freshPage(ao, id, { first, limit });
  const value = pageJson(id, page);
  await invocation.print(value, () => page.messages.flatMap((one) => messageLines(one, invocation.paint)));
  if (page.head.count === 0) invocation.note(`nothing is recorded of ${id} yet`);
  warnOfDamage(invocation, id, page);
  if (page.turnInFlight !== null) invocation.note(turnInFlightText(page.turnInFlight));
  if (page.salvage !== null) invocation.note(salvageNote(page.salvage));
  if (value.next !== null) invocation.note(`more: ao transcript show ${id} --from ${value.next}`);
  return undefined;
}

function warnOfDamage(
  invocation: Invocation,
  id: SessionId,
  { health, missing }: Pick<TranscriptPage, "health" | "missing">,
): void {
  if (health !== "damaged") return;
  const lacks = missing === 0 ? "" : ` and lacks ${counted(missing, "message")}`;
  invocation.warn(`the transcript of ${id} is damaged${lacks}; ao transcript verify ${id} says how`);
}

function salvageNote({ path, bytes }: { readonly path: string; readonly bytes: number }): string {
  return `${bytes} bytes that were cut off it are kept in ${path}`;
}

async function verify(invocation: Invocation, names: readonly string[]): Promise<number> {
  const ao = await invocation.open("reading");
  const ids = names.length === 0 ? null : sessionIds(ao, names);
  const reports = await verifyTranscripts(ao.deps, ids);
  await invocation.print({ data: reports.map(reportJson) }, () =>
    reports.length === 0
      ? []
      : table({
          header: ["TRANSCRIPT", "HEALTH", "MESSAGES", "BYTES", "FOUND"],
          rows: reports.map(reportCells),
          paint: invocation.paint,
          width: undefined,
        }),
  );
  if (reports.length === 0) invocation.note("no transcripts yet");
  return reports.every(isSound) ? 0 : 4;
}

function repairText({ name, result, salvage }: RepairOutcome): string {
  switch (result.kind) {
    case "repaired": {
      const lost =
        result.lostMessages === 0 ? "nothing lost" : `${counted(result.lostMessages, "message")} lost`;
      const kept =
        result.salvagedBytes === 0
          ? ""
          : `, ${counted(result.salvagedBytes, "byte")} kept in ${salvage?.path}`;
      return `${name} repaired${kept}, ${lost}`;
    }
    case "unchanged":
      return `${name} is sound`;
    case "forgotten":
      return `${name} is forgotten: its files were gone; a new one may begin`;
    case "missing":
      return `${name} has no transcript`;
  }
}

function repairJson({ id, name, result, salvage }: RepairOutcome) {
  const { salvagedBytes = 0, lostMessages = 0 } = result.kind === "repaired" ? result : {};
  const messages = "head" in result ? result.head.count : 0;
  return { id, name, outcome: result.kind, messages, salvagedBytes, lostMessages, salvage };
}

async function repair(invocation: Invocation, name: string): Promise<undefined> {
  invocation.hold();
  const ao = await invocation.open("existing");
  const outcomes = await repairTranscript(ao.deps, resolveSessionId(ao.deps, name));
  await invocation.print({ data: outcomes.map(repairJson) }, () => outcomes.map(repairText));
  return undefined;
}

async function exportTo(invocation: Invocation, name: string, { format }: { readonly format: string }) {
  const ao = await invocation.open("reading");
  const id = resolveSessionId(ao.deps, name);
  const { stdout } = invocation.io;
  const isMarkdown = format === "markdown";
  if (isMarkdown) stdout.write(`# ${id}\n\n`);
  const condition = await forEachMessage(ao.deps, id, async (message) => {
    stdout.write(isMarkdown ? messageMarkdown(message) : `${JSON.stringify(messageJson(message))}\n`);
    await stdout.drained();
  });
  if (condition === null) throw new AoError("transcript_not_found", `nothing is recorded of ${id} yet`);
  warnOfDamage(invocation, id, condition);
  return undefined;
}

function showCommand(host: Host): Command {
  return host
    .command({
      usage: "show <session>",
      purpose: "Print what was said in a session, a page at a time",
      examples: [
        ["ao transcript show app-7", "the last messages"],
        ["ao transcript show app-7 --from 1 --json", "from the first one on, for a script"],
      ],
    })
    .addOption(new Option("-n, --limit <count>", "messages on a page").default("50"))
    .option("--from <number>", "first message, counted from 1 (default: the last page)")
    .addOption(jsonOption())
    .action(host.action(show));
}

function verifyCommand(host: Host): Command {
  return host
    .command({
      usage: "verify [session...]",
      purpose: "Read every file of transcripts and say what is damaged; changes nothing",
      more: "The exit code is 4 when anything is damaged. Files beside the log that lag behind are no damage.",
      examples: [
        ["ao transcript verify", "all there are"],
        ["ao transcript verify app-7 --json", "one, for a script"],
      ],
    })
    .addOption(jsonOption())
    .action(host.action(verify));
}

function repairCommand(host: Host): Command {
  return host
    .command({
      usage: "repair <session>",
      purpose: "Set a transcript right, after what is cut off is kept in its salvage",
      examples: [
        ["ao transcript repair app-7", "after ao transcript verify found damage"],
        ["ao transcript repair app-7 --json", "what was kept and what was lost, for a script"],
      ],
    })
    .addOption(jsonOption())
    .action(host.action(repair));
}

function exportCommand(host: Host): Command {
  return host
    .command({
      usage: "export <session>",
      purpose: "Print a whole transcript",
      examples: [
        ["ao transcript export app-7 > app-7.md", "to read it, or to give it to somebody"],
        ["ao transcript export app-7 --format jsonl", "one JSON object a message, for a program"],
      ],
    })
    .addOption(
      new Option("--format <format>", "what to print").choices(["markdown", "jsonl"]).default("markdown"),
    )
    .action(host.action(exportTo));
}

/** `ao transcript …`. */
export function transcriptCommand(host: Host): Command {
  const transcript = host.command({
    usage: "transcript",
    purpose: "Show, check, repair, export and prune the conversations that ao keeps",
    examples: [
      ["ao transcript show app-7", "what was said"],
      ["ao transcript verify", "whether all of it is whole"],
    ],
  });
  const parts = [showCommand, verifyCommand, repairCommand, exportCommand, pruneCommand];
  for (const part of parts) transcript.addCommand(part(host));
  return transcript;
}
