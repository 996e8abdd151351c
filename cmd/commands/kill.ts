import { type Command, Option } from "commander";
import { KILL_REASONS, type KillReason } from "../../src/domain/apply-requests.ts";
import { parseSessionId } from "../../src/domain/ids.ts";
import { printable } from "../../src/domain/printable.ts";
import { type KillOptions, killSession } from "../../src/lifecycle/kill/kill-session.ts";
import type { KillResult } from "../../src/lifecycle/kill/kill-steps.ts";
import { jsonOption, sessionIds, switchOption } from "../flags.ts";
import type { Host } from "../host.ts";
import { type Invocation, refuseTogether } from "../invocation.ts";
import {
  addWaitFlags,
  type RequestFlags,
  requestIdOf,
  requestIdOption,
  type WaitFlags,
  waitMsOf,
} from "../request-flags.ts";
import { forEachOf, worstOf } from "../several.ts";
import { warnSpecial } from "../warn-special.ts";

interface KillFlags extends RequestFlags, WaitFlags {
  readonly reason: KillReason;
  readonly note?: string;
  readonly keepWorktree: boolean;
  readonly salvage: boolean;
}

function lineOf({ id, alreadyTerminated, workspaceFreed, workspacePath, salvageRef }: KillResult): string {
  const ended = alreadyTerminated ? "was terminated already" : "killed";
  const where = printable(workspacePath ?? "-");
  // A worktree that an earlier kill was refused; one that this call was told to keep needs no reason.
  const why = alreadyTerminated
    ? ` (ao cleanup --dry-run says what it holds; ao kill ${id} --salvage keeps it aside)`
    : "";
  const kept = salvageRef === null ? "" : `, its work is kept in ${salvageRef}`;
  return `${id} ${ended}, ${workspaceFreed ? `worktree freed${kept}` : `worktree kept at ${where}${why}`}`;
}

function noteQueued(invocation: Invocation, results: readonly KillResult[]): void {
  for (const { id, queuedMessages } of results.filter((one) => one.queuedMessages > 0)) {
    const what = queuedMessages === 1 ? "a message waits" : `${queuedMessages} messages wait`;
    invocation.note(`${what} in the queue of ${id}, to be delivered after: ao restore ${id}`);
  }
}

/** What was asked for the worktrees goes on counting when it is asked again. */
function againOf({ salvage, keepWorktree }: KillFlags): string {
  return `ao kill${salvage ? " --salvage" : ""}${keepWorktree ? " --keep-worktree" : ""}`;
}

async function kill(invocation: Invocation, names: readonly string[], flags: KillFlags): Promise<undefined> {
  refuseTogether([flags.keepWorktree, "--keep-worktree"], [flags.salvage, "--salvage"]);
  const request = { requestId: requestIdOf(flags), waitMs: waitMsOf(flags) };
  invocation.hold();
  const ao = await invocation.open("existing");
  const ids = sessionIds(ao, names);
  const options: KillOptions = {
    ...request,
    reason: flags.reason,
    note: flags.note ?? null,
    keepWorktree: flags.keepWorktree,
    salvage: flags.salvage,
    callerSessionId: parseSessionId(invocation.io.env["AO_SESSION_ID"] ?? "") ?? null,
    onStep: invocation.progress.step,
  };
  if (names.length === 1 && ids[0] !== undefined) {
    const result = await killSession(ao.deps, ids[0], options);
    noteQueued(invocation, [result]);
    await warnSpecial(ao, invocation, [result]);
    await invocation.print(result, () => [lineOf(result)]);
    return undefined;
  }
  const outcome = await forEachOf(ids, (id) => killSession(ao.deps, id, options), invocation.isInterrupted);
  const { results, failures } = outcome;
  noteQueued(invocation, results);
  await warnSpecial(ao, invocation, results);
  // A script that gets an error finds the results in it, and nothing on stdout.
  if (failures.length === 0 || !invocation.json) await invocation.print(results, () => results.map(lineOf));
  if (failures.length > 0) throw worstOf(outcome, againOf(flags));
  return undefined;
}

/** `ao kill`. */
export function killCommand(host: Host): Command {
  const command = host.command({
    usage: "kill <session...>",
    purpose: "End sessions: record the intent, stop the agent, then free the worktree",
    more: [
      "A worktree with work in it that git could not give back stays, and the exit code is 4; with --salvage all of",
      "it is kept as a commit first, the worktree goes, and ao restore puts it back. No flag throws work away.",
      "With several sessions the result is a list. When some fail, the exit code and the one error are those",
      "of the worst failure; 5 only when all failed so, and 1 where the others worked. Its details hold all",
      "failures, and the results of those that worked.",
    ].join("\n"),
    examples: [
      ["ao kill app-7 --salvage", "end it, keep its work aside, free its worktree"],
      ['ao kill app-7 app-8 --note "superseded by app-9"', "end two, and remember why"],
    ],
  });
  return addWaitFlags(command)
    .addOption(
      new Option("--reason <reason>", "why it ends")
        .choices([...KILL_REASONS])
        .default("manual" satisfies KillReason),
    )
    .option("--note <text>", "a note to keep with the session")
    .addOption(switchOption("--keep-worktree", "leave the worktree where it is"))
    .addOption(switchOption("--salvage", "keep the work in the worktree aside, then free it"))
    .addOption(requestIdOption())
    .addOption(jsonOption())
    .action(host.action(kill));
}
