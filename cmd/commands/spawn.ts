import { type Command, Option } from "commander";
import type { Ao } from "../../src/compose.ts";
import { AoError } from "../../src/domain/errors.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import { printable } from "../../src/domain/printable.ts";
import { SESSION_KINDS, type SessionKind, type SessionRecord } from "../../src/domain/session.ts";
import { parseIssueId, parseTitle } from "../../src/domain/user-text.ts";
import { type SpawnInput, spawnPlanned } from "../../src/lifecycle/configured-sessions.ts";
import { observeSessions } from "../../src/lifecycle/observe/observe-sessions.ts";
import { type WaitOptions, waitForStatus } from "../../src/lifecycle/observe/wait-for-status.ts";
import { jsonOption, switchOption } from "../flags.ts";
import type { Host } from "../host.ts";
import { type Invocation, refuseTogether } from "../invocation.ts";
import { type RequestFlags, requestIdOf, requestIdOption } from "../request-flags.ts";
import { sessionJson } from "../session-view.ts";
import { addSpawnFlags, prepareSpawn, type SpawnFlags, spawnInput } from "../spawn-flags.ts";
import { addGoalFlags, beginGoal, goalOf, type SpawnGoalFlags } from "../spawn-goal.ts";
import { DEFAULT_STATUS_WAIT, statusesFlag, statusTimeout } from "../status-flags.ts";
import { attachTo, requireTerminal } from "./attach.ts";

interface Flags extends SpawnFlags, RequestFlags, SpawnGoalFlags {
  readonly branch?: string;
  readonly title?: string;
  readonly kind: SessionKind;
  readonly attach: boolean;
  /** `true` when no status was named. */
  readonly wait?: string | true;
  readonly timeout?: string;
}

/** What `--wait` and `--timeout` ask for, or nothing. @throws AoError usage */
function wantedStatus({ wait, timeout }: Flags): Omit<WaitOptions, "signal"> | undefined {
  if (wait !== undefined) {
    const statuses = statusesFlag("--wait", wait === true ? "idle" : wait);
    return { statuses, timeoutMs: statusTimeout(timeout) };
  }
  if (timeout === undefined) return undefined;
  throw new AoError("usage", "--timeout is for --wait alone", { hint: "add --wait" });
}

function linesOf({ id, metadata }: SessionRecord): readonly string[] {
  const { baseRef, baseCommit } = metadata;
  const from = baseRef && baseCommit ? ` from ${printable(baseRef)} at ${baseCommit.slice(0, 12)}` : "";
  return [
    `branch    ${printable(metadata.branch)}${from}`,
    `worktree  ${printable(metadata.workspacePath)}`,
    `agent     ${metadata.agent}`,
    `attach    ao attach ${id}`,
    `SESSION=${id}`,
  ];
}

/** Nobody fetches an issue: an agent knows what it is told. What follows `--` may be what it is to do. */
function noteUntold(
  invocation: Invocation,
  id: SessionId,
  { prompt, agentArgs, goal }: Pick<SpawnInput, "prompt" | "agentArgs" | "goal">,
): void {
  if (prompt !== null || goal !== undefined || agentArgs.length > 0) return;
  invocation.note(`${id} was given nothing to do yet: ao send ${id} "…"`);
}

/** What was waited for is put on record, and with it the files of a turn that has ended. */
async function awaited(
  invocation: Invocation,
  ao: Ao,
  { id, wanted }: { readonly id: SessionId; readonly wanted: Omit<WaitOptions, "signal"> },
): Promise<SessionRecord> {
  const { signal } = invocation.io.interruption;
  const record = await waitForStatus(ao.deps, id, { ...wanted, signal });
  await observeSessions(ao.deps, [id]);
  return record;
}

async function spawn(invocation: Invocation, issue: string | undefined, flags: Flags): Promise<undefined> {
  refuseTogether([invocation.json, "--json"], [flags.attach, "--attach"]);
  refuseTogether([flags.wait !== undefined, "--wait"], [flags.attach, "--attach"]);
  const wanted = wantedStatus(flags);
  if (flags.attach) requireTerminal(invocation.io, "ao spawn --attach …");
  const input = {
    ...(await spawnInput(invocation, flags)),
    issueId: issue === undefined ? null : parseIssueId(issue),
    title: flags.title === undefined ? null : parseTitle(flags.title),
    branch: flags.branch ?? null,
    requestId: requestIdOf(flags),
    ...goalOf(flags),
  };
  invocation.hold();
  const { project = null, agent = null, kind } = flags;
  const { ao, plan } = await prepareSpawn(invocation, { project, agent, kind }, input);
  const { record, warnings } = await spawnPlanned(ao, plan, input);
  for (const warning of warnings) invocation.warn(warning);
  if (!invocation.json) await invocation.print(null, () => linesOf(record));
  noteUntold(invocation, record.id, input);
  const ofGoal = input.goal === undefined ? [] : await beginGoal(invocation, ao, record.id);
  const shown = wanted ? await awaited(invocation, ao, { id: record.id, wanted }) : record;
  const told = { warnings: [...warnings, ...ofGoal] };
  if (invocation.json) await invocation.print({ ...sessionJson(ao, shown), ...told }, () => []);
  if (flags.attach) await attachTo(invocation, ao, record.id);
  return undefined;
}

/** `ao spawn`. */
export function spawnCommand(host: Host): Command {
  const command = host.command({
    usage: "spawn [issue]",
    purpose: "Start an agent on an issue: a worktree, a tmux session, the agent",
    more: [
      "Works in any git repository with no set-up. What follows -- goes to the agent as it is.",
      "If a step fails, the earlier ones are taken back. The last line of the output is SESSION=<id>.",
    ].join("\n"),
    examples: [
      [
        'ao spawn 42 --title "Fix the login redirect" --prompt-file issue-42.md',
        "on branch feat/42-fix-the-login-redirect",
      ],
      ["ao spawn --agent shell -- npm run dev", "any command as the agent"],
    ],
  });
  return addGoalFlags(addSpawnFlags(command.usage("[options] [issue] [-- <agent arguments…>]")))
    .option(
      "--branch <name>",
      "branch to work on, made when it is new (default: from issue and title, else a new session/<id>)",
    )
    .option("--title <text>", "one line that says what it is about")
    .addOption(
      new Option("--kind <kind>", "what it is for")
        .choices([...SESSION_KINDS])
        .default("worker" satisfies SessionKind),
    )
    .addOption(requestIdOption())
    .option("--wait [status]", "once it runs, wait for a status, or several with commas (default: idle)")
    .option("--timeout <duration>", `with --wait: for how long at most (default: ${DEFAULT_STATUS_WAIT})`)
    .addOption(switchOption("--attach", "show its terminal here once it runs"))
    .addOption(jsonOption())
    .action(host.action(spawn));
}
