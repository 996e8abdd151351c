import type { Command } from "commander";
import { printable } from "../../src/domain/printable.ts";
import { restoreConfigured } from "../../src/lifecycle/configured-sessions.ts";
import { resolveSessionId } from "../../src/lifecycle/resolve-session-id.ts";
import { jsonOption, switchOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
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
}

async function restore(invocation: Invocation, name: string, flags: RestoreFlags) {
  const request = { requestId: requestIdOf(flags), waitMs: waitMsOf(flags) };
  invocation.hold();
  const ao = await invocation.open("existing");
  const id = resolveSessionId(ao.deps, name);
  const options = { ...request, fresh: flags.fresh, onStep: invocation.progress.step };
  const { record, fresh, warnings } = await restoreConfigured(ao, id, options);
  for (const warning of warnings) invocation.warn(warning);
  const how = fresh ? "with a new conversation" : "with its conversation";
  await invocation.print(sessionJson(ao, record), () => [
    `${id} restored ${how} in ${printable(record.metadata.workspacePath)}`,
  ]);
  return undefined;
}

/** `ao restore`. */
export function restoreCommand(host: Host): Command {
  const command = host.command({
    usage: "restore <session>",
    purpose: "Bring a terminated session back with its own conversation and files",
    examples: [
      ["ao restore app-7", "take up where it ended"],
      ["ao restore app-7 --fresh", "start the agent anew in the same files, with the recorded prompt"],
    ],
  });
  return addWaitFlags(command)
    .addOption(switchOption("--fresh", "begin a new conversation with the recorded prompt"))
    .addOption(requestIdOption())
    .addOption(jsonOption())
    .action(host.action(restore));
}
