import type { Command } from "commander";
import type { Ao } from "../../src/compose.ts";
import type { ProjectId } from "../../src/domain/ids.ts";
import { printable } from "../../src/domain/printable.ts";
import { parseIssueId } from "../../src/domain/user-text.ts";
import { type ClosedSession, closeIssue } from "../../src/lifecycle/goals/close-issue.ts";
import { requireProject } from "../../src/lifecycle/projects/projects.ts";
import { jsonOption, projectFilter, projectOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";

interface CloseFlags {
  readonly project?: string;
  readonly reason: string;
}

async function projectOf(ao: Ao, flag: string | undefined): Promise<ProjectId> {
  const named = await projectFilter(ao, flag);
  if (named !== null) return named;
  const { projects } = await ao.config();
  return (await requireProject(ao.deps, { flag: null, cwd: ao.cwd, config: projects })).project.id;
}

function jsonOf({ id, outcome, fence }: ClosedSession) {
  const { operationId = null, target = null, settled = null, waitsFor = null } = fence ?? {};
  return { id, outcome, operationId, target, settled, waitsFor };
}

function lineOf(closed: ClosedSession): string {
  const { id, outcome, fence } = closed;
  if (fence === null) return `${id} has no goal`;
  const before = closed.wasCompleted ? ", completed already," : "";
  const open = fence.settled ? "" : "; on record and not settled yet";
  const done = outcome === "fenced" ? "is fenced" : "had been fenced";
  return `${id}: its goal${before} ${done} (order ${fence.target.operationId})${open}`;
}

async function close(invocation: Invocation, issue: string, flags: CloseFlags): Promise<number> {
  const { reason } = flags;
  const issueId = parseIssueId(issue);
  invocation.hold();
  const ao = await invocation.open("existing");
  const projectId = await projectOf(ao, flags.project);
  const onStep = invocation.progress.step;
  const { sessions, errors } = await closeIssue(ao.deps, { projectId, issueId, reason, onStep });
  const told = { issueId, projectId, reason, sessions: sessions.map(jsonOf), errors };
  await invocation.print(told, () => sessions.map(lineOf));
  for (const { id, message } of errors) invocation.warn(`${id}: ${message}`);
  for (const { id, fence } of sessions) {
    if (fence?.waitsFor) invocation.note(`${id}: ${fence.waitsFor}; ao reconcile goes on with it`);
  }
  if (sessions.length + errors.length === 0) {
    invocation.note(`no session of ${projectId} works on issue ${printable(issueId)}: nothing to fence`);
  }
  return errors.length > 0 ? 1 : 0;
}

function closeCommand(host: Host): Command {
  return host
    .command({
      usage: "close <issue>",
      purpose: "Tell ao that an issue was closed: the goals of its sessions are revoked for ever",
      more: [
        "As ao goal fence for each session of the issue, also for those that are over; sessions, worktrees and what they",
        "hold stay. To run it again does nothing twice, and finishes what a killed one left. An issue that no session",
        "works on is exit 0, since most of those that a webhook tells of are; exit 1 when a session failed.",
      ].join("\n"),
      examples: [
        ["ao issue close 42", "in the project here"],
        ["ao issue close 42 -p app --json", "for a webhook or cron"],
      ],
    })
    .addOption(projectOption("project of the issue (default: AO_PROJECT_ID, else the repository here)"))
    .option("--reason <text>", "why, for those who read the record", "issue_closed")
    .addOption(jsonOption())
    .action(host.action(close));
}

/** `ao issue …`. */
export function issueCommand(host: Host): Command {
  const issue = host.command({
    usage: "issue",
    purpose: "What ao is told of issues",
    more: "It asks no tracker by itself.",
    examples: [
      ["ao issue close 42", "revokes the goals of its sessions"],
      ["ao issue close --help", "what that does, and what it leaves"],
    ],
  });
  return issue.addCommand(closeCommand(host));
}
