import type { Command } from "commander";
import type { Ao } from "../../src/compose.ts";
import { jsonOption, projectFilter, projectOption, switchOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import {
  type ListChoice,
  listingJson,
  listingLines,
  listingNotes,
  listingWarnings,
  takeListing,
} from "../list-view.ts";
import { requireScreen, watchList } from "../watch-list.ts";

interface ListFlags {
  readonly project?: string;
  readonly includeTerminated: boolean;
  readonly stored: boolean;
  readonly watch: boolean;
  readonly tree: boolean;
}

async function choiceOf(ao: Ao, flags: ListFlags): Promise<ListChoice> {
  const { includeTerminated, stored, tree } = flags;
  return { projectId: await projectFilter(ao, flags.project), includeTerminated, stored, tree };
}

async function list(invocation: Invocation, flags: ListFlags): Promise<undefined> {
  if (flags.watch) {
    requireScreen(invocation);
    await watchList(invocation, (ao) => choiceOf(ao, flags));
    return undefined;
  }
  const ao = await invocation.open("reading");
  const listing = await takeListing(ao, await choiceOf(ao, flags));
  const look = { paint: invocation.paint, width: invocation.io.stdout.columns };
  if (invocation.json) await invocation.printPieces(listingJson(ao, listing));
  else await invocation.print(null, () => listingLines(ao, listing, look));
  for (const warning of listingWarnings(listing)) invocation.warn(warning);
  for (const note of listingNotes(ao, listing)) invocation.note(note);
  return undefined;
}

/** `ao list`, by whatever name it has in its group. */
export function listCommand(
  host: Host,
  name = "list",
  aliases: readonly string[] = ["ls", "status"],
): Command {
  return host
    .command({
      usage: name,
      purpose: "Show sessions of all projects with their status, newest first",
      more: [
        "Looks at every live session once and writes nothing. A look that fails is shown as detecting, never",
        "as dead. SEEN is how long ago the agent was last heard, or the session began.",
      ].join("\n"),
      examples: [
        ["ao list", "what is going on, everywhere"],
        ["ao list -p app --include-terminated --json", "all sessions of one project, for a script"],
      ],
    })
    .aliases([...aliases])
    .addOption(projectOption("only sessions of this project (default: all projects)"))
    .addOption(switchOption("-a, --include-terminated", "also sessions that are over"))
    .addOption(switchOption("--stored", "do not look at the sessions, show what was last recorded"))
    .addOption(switchOption("-w, --watch", "draw it again every second until it is interrupted"))
    .addOption(switchOption("--tree", "each fork below the session it comes from"))
    .addOption(jsonOption())
    .action(host.action(list));
}
