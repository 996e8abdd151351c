import type { Command } from "commander";
import type { Ao } from "../../src/compose.ts";
import { AoError } from "../../src/domain/errors.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import { printable } from "../../src/domain/printable.ts";
import { restoreConfigured } from "../../src/lifecycle/configured-sessions.ts";
import { resolveSessionId } from "../../src/lifecycle/resolve-session-id.ts";
import { type RestoreLostResult, restoreLost } from "../../src/lifecycle/restore/restore-lost.ts";
import type { RestoreResult } from "../../src/lifecycle/restore/restore-result.ts";
import { summarizeTranscript } from "../../src/lifecycle/transcripts/summarize-transcript.ts";
import { jsonOption, switchOption } from "../flags.ts";
import type { Host } from "../host.ts";
import { type Invocation, openWhole, refuseTogether } from "../invocation.ts";
import {
  addWaitFlags,
  type RequestFlags,
  requestIdOf,
  requestIdOption,
  type WaitFlags,
  waitMsOf,
} from "../request-flags.ts";
import { sessionJson } from "../session-view.ts";

interface RestoreFlags extends RequestFlags, WaitFlags {
  readonly fresh: boolean;
  readonly allLost: boolean;
  readonly salvage: boolean;
}

/** Between two restores of many. */
const SPACING_MS = 1000;

/** @throws AoError usage when flags of one restore are given for all. */
function refuseForAll({ fresh, salvage, requestId, wait }: RestoreFlags): void {
  refuseTogether([true, "--all-lost"], [fresh, "--fresh"]);
  refuseTogether([true, "--all-lost"], [!salvage, "--no-salvage"]);
  refuseTogether([true, "--all-lost"], [requestId !== undefined, "--request-id"]);
  refuseTogether([true, "--all-lost"], [wait, "--wait"]);
}

function lostLines({ restored, failed, left }: RestoreLostResult): readonly string[] {
  if (restored.length + failed.length + left.length === 0) return ["no session was lost"];
  return [
    ...restored.map(({ record: { id } }) => `${id} restored`),
    ...failed.map(({ id, message }) => `${id} failed: ${printable(message)}`),
    ...left.map((id) => `${id} not tried`),
  ];
}

/** What a person is told beside the session is told to a script as well. */
function restoredJson(ao: Ao, { record, ...told }: RestoreResult) {
  return { ...sessionJson(ao, record), ...told };
}

async function restoreAll(invocation: Invocation, flags: RestoreFlags): Promise<number> {
  refuseForAll(flags);
  invocation.hold();
  const ao = await openWhole(invocation);
  const { signal } = invocation.io.interruption;
  const onStep = (id: SessionId) => invocation.progress.step(`restoring ${id}`);
  const result = await restoreLost(ao, { spacingMs: SPACING_MS, signal, onStep });
  const restored = result.restored.map((one) => restoredJson(ao, one));
  for (const { record, warnings } of result.restored) {
    for (const warning of warnings) invocation.warn(`${record.id}: ${warning}`);
  }
  await invocation.print({ ...result, restored }, () => lostLines(result));
  return result.failed.length + result.left.length > 0 ? 1 : 0;
}

async function restore(invocation: Invocation, name: string | undefined, flags: RestoreFlags) {
  if (flags.allLost !== (name === undefined)) {
    const why = name === undefined ? "a session is missing" : "a session and --all-lost exclude each other";
    throw new AoError("usage", why, { hint: "ao restore <session>, or: ao restore --all-lost" });
  }
  return name === undefined ? restoreAll(invocation, flags) : restoreOne(invocation, name, flags);
}

async function restoreOne(invocation: Invocation, name: string, flags: RestoreFlags) {
  const request = { requestId: requestIdOf(flags), waitMs: waitMsOf(flags) };
  invocation.hold();
  const ao = await openWhole(invocation);
  const id = resolveSessionId(ao.deps, name);
  const { salvage } = flags;
  const options = { ...request, fresh: flags.fresh, salvage, onStep: invocation.progress.step };
  const result = await restoreConfigured(ao, id, options);
  const { record, fresh, salvageRef, warnings } = result;
  for (const warning of warnings) invocation.warn(warning);
  if (salvageRef !== null) invocation.note(`work was put back from ${salvageRef}`);
  if (fresh && (await summarizeTranscript(ao.deps, record, [])) !== null)
    invocation.note(`what was said before: ao transcript show ${id}`);
  const how = fresh ? "with a new conversation" : "with its conversation";
  await invocation.print(restoredJson(ao, result), () => [
    `${id} restored ${how} in ${printable(record.metadata.workspacePath)}`,
  ]);
  return undefined;
}

/** `ao restore`. */
export function restoreCommand(host: Host): Command {
  const command = host.command({
    usage: "restore [session]",
    purpose: "Bring a terminated session back with its own conversation and files",
    examples: [
      ["ao restore app-7", "take up where it ended"],
      ["ao restore --all-lost", "after a reboot: all sessions whose runtime was lost, one after the other"],
    ],
  });
  return addWaitFlags(command)
    .addOption(switchOption("--fresh", "begin a new conversation with the recorded prompt"))
    .option("--no-salvage", "leave work that was kept when the worktree was freed where it is kept")
    .addOption(
      switchOption("--all-lost", "every session whose runtime was lost; stops after three failures in a row"),
    )
    .addOption(requestIdOption())
    .addOption(jsonOption())
    .action(host.action(restore));
}
