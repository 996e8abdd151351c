import type { Command } from "commander";
import {
  emptyTranscriptTrash,
  type PruneOutcome,
  pruneTranscript,
} from "../../src/lifecycle/transcripts/prune-transcript.ts";
import { transcriptTrash } from "../../src/lifecycle/transcripts/transcript-trash.ts";
import { counted } from "../counted.ts";
import { jsonOption, sessionIds } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { forEachOf, worstOf } from "../several.ts";

function pruneText({ id, files, bytes }: PruneOutcome, folder: string): string {
  if (files.length === 0) return `${id} has no transcript`;
  return `${id} pruned: ${counted(files.length, "file")}, ${counted(bytes, "byte")}, in ${folder}`;
}

async function prune(invocation: Invocation, names: readonly string[]): Promise<undefined> {
  invocation.hold();
  const ao = await invocation.open("existing");
  const ids = sessionIds(ao, names);
  const outcome = await forEachOf(ids, (id) => pruneTranscript(ao.deps, id), invocation.isInterrupted);
  const { results, failures } = outcome;
  const [failure] = failures;
  if (failure !== undefined && ids.length === 1) throw failure.error;
  const { folder } = transcriptTrash(ao.deps);
  const lines = () => results.map((one) => pruneText(one, folder));
  if (failure !== undefined) {
    // A script that gets an error finds the results in it, and nothing on stdout.
    if (!invocation.json) await invocation.print(results, lines);
    throw worstOf(outcome, "ao transcript prune");
  }
  const deleted = await emptyTranscriptTrash(ao.deps);
  await invocation.print({ data: results, trash: folder, deleted }, lines);
  if (deleted.length > 0)
    invocation.note(`deleted ${counted(deleted.length, "file")}, pruned 14 days ago or earlier`);
  return undefined;
}

export function pruneCommand(host: Host): Command {
  return host
    .command({
      usage: "prune <session...>",
      purpose: "Move transcripts of sessions that are over into the trash, for 14 days",
      more: "Nothing is ever deleted by age alone: what was pruned is deleted by a prune 14 days later or more.",
      examples: [
        ["ao transcript prune app-7", "its files, copies included, go to the trash"],
        ["ao transcript prune app-7 app-8 --json", "two of them, for a script"],
      ],
    })
    .addOption(jsonOption())
    .action(host.action(prune));
}
