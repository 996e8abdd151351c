import type { Command } from "commander";
import { isoTime } from "../../src/domain/iso-time.ts";
import { isTerminal } from "../../src/domain/lifecycle.ts";
import type { SessionRecord } from "../../src/domain/session.ts";
import { listSessions } from "../../src/lifecycle/list-sessions.ts";
import { jsonOption, projectFilter, projectOption, switchOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { sessionJson, sessionTable } from "../session-view.ts";

interface ListFlags {
  readonly project?: string;
  readonly includeTerminated: boolean;
  readonly stored: boolean;
}

/** Newest first; what was made in the same millisecond by number. */
function newestFirst(records: readonly SessionRecord[]): readonly SessionRecord[] {
  return [...records].reverse();
}

function noteWhatIsMissing(invocation: Invocation, shown: number, hidden: number): void {
  if (shown === 0 && hidden === 0) invocation.note('no sessions yet; start one: ao spawn --prompt "…"');
  if (hidden > 0) invocation.note(`${hidden} terminated not shown; --include-terminated shows them`);
}

async function list(invocation: Invocation, flags: ListFlags): Promise<undefined> {
  const ao = await invocation.open("reading");
  const projectId = await projectFilter(ao, flags.project);
  const { sessions, unreadable, observedAtMs, lookFailures } = await listSessions(ao.deps, {
    projectId,
    stored: flags.stored,
  });
  const shown = newestFirst(sessions).filter(
    ({ lifecycle }) => flags.includeTerminated || !isTerminal(lifecycle),
  );
  const hidden = sessions.length - shown.length;
  await invocation.print(
    {
      data: shown.map((record) => sessionJson(ao, record)),
      meta: {
        hiddenTerminatedCount: hidden,
        observedAt: isoTime(observedAtMs),
        unreadable: unreadable.map(({ id, flaw }) => ({ id, why: flaw })),
      },
    },
    () =>
      shown.length === 0
        ? []
        : sessionTable({
            records: shown,
            nowMs: ao.deps.clock.nowMs(),
            paint: invocation.paint,
            width: invocation.io.stdout.columns,
          }),
  );
  for (const { id, flaw } of unreadable) {
    invocation.warn(`session ${id} is not shown: its row in the store cannot be read (${flaw})`);
  }
  for (const failure of lookFailures) invocation.warn(`could not look at some sessions: ${failure}`);
  noteWhatIsMissing(invocation, shown.length + unreadable.length, hidden);
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
      more: "Looks at every live session once and writes nothing. A look that fails is shown as detecting, never as dead.",
      examples: [
        ["ao list", "what is going on, everywhere"],
        ["ao list -p app --include-terminated --json", "all sessions of one project, for a script"],
      ],
    })
    .aliases([...aliases])
    .addOption(projectOption("only sessions of this project (default: all projects)"))
    .addOption(switchOption("-a, --include-terminated", "also sessions that are over"))
    .addOption(switchOption("--stored", "do not look at the sessions, show what was last recorded"))
    .addOption(jsonOption())
    .action(host.action(list));
}
