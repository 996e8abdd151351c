import type { Command } from "commander";
import { printable } from "../../src/domain/printable.ts";
import { restoreConfigured } from "../../src/lifecycle/configured-sessions.ts";
import { resolveSessionId } from "../../src/lifecycle/resolve-session-id.ts";
import { jsonOption, switchOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { sessionJson } from "../session-view.ts";

async function restore(invocation: Invocation, name: string, flags: { readonly fresh: boolean }) {
  invocation.hold();
  const ao = await invocation.open("existing");
  const id = resolveSessionId(ao.deps, name);
  const options = { fresh: flags.fresh, onStep: invocation.progress.step };
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
  return host
    .command({
      usage: "restore <session>",
      purpose: "Bring a terminated session back with its own conversation and files",
      examples: [
        ["ao restore app-7", "take up where it ended"],
        ["ao restore app-7 --fresh", "start the agent anew in the same files, with the recorded prompt"],
      ],
    })
    .addOption(switchOption("--fresh", "begin a new conversation with the recorded prompt"))
    .addOption(jsonOption())
    .action(host.action(restore));
}
