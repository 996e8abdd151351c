import type { Command } from "commander";
import { resolveSessionId } from "../../src/lifecycle/resolve-session-id.ts";
import { rewindSession } from "../../src/lifecycle/salvage/rewind-session.ts";
import { jsonOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { namedTurn, turnFlag } from "../turn-flag.ts";

interface RewindFlags {
  readonly to: string;
}

async function rewind(invocation: Invocation, name: string, flags: RewindFlags): Promise<undefined> {
  const named = turnFlag("--to", flags.to);
  invocation.hold();
  const ao = await invocation.open("existing");
  const id = resolveSessionId(ao.deps, name);
  const turnId = namedTurn(ao, id, named);
  const result = await rewindSession(ao.deps, id, { turnId, onStep: invocation.progress.step });
  await invocation.print(result, () => [`${id} has the files of the end of turn ${turnId}`]);
  for (const warning of result.warnings) invocation.warn(warning);
  if (result.salvageRef !== null)
    invocation.note(`what was there is kept: ao salvage show ${result.salvageRef}`);
  return undefined;
}

/** `ao rewind`. */
export function rewindCommand(host: Host): Command {
  return host
    .command({
      usage: "rewind <session>",
      purpose: "Put the files of a resting session back to the end of a turn",
      more: [
        "What is there is kept as a salvage first. Files that git ignores stay, and so do branch, commits and index.",
        "The conversation stays as it is: the agent does not know of it.",
      ].join("\n"),
      examples: [
        ["ao rewind app-7 --to 3", "number or id, as in ao turns app-7"],
        ["ao rewind app-7 --to 3f0c… --json", "for a script"],
      ],
    })
    .requiredOption("--to <turn>", "the turn, by number or whole id")
    .addOption(jsonOption())
    .action(host.action(rewind));
}
