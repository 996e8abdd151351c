import type { Command } from "commander";
import type { Ao } from "../../src/compose.ts";
import type { ProjectId } from "../../src/domain/ids.ts";
import { printable } from "../../src/domain/printable.ts";
import { cleanup } from "../../src/lifecycle/cleanup/cleanup-once.ts";
import {
  type CleanedSession,
  type PrintedCleanup,
  printedCleanup,
} from "../../src/lifecycle/cleanup/cleanup-report.ts";
import { resolveProject } from "../../src/lifecycle/projects/projects.ts";
import { counted } from "../counted.ts";
import { durationFlag, jsonOption, projectFilter, projectOption, switchOption } from "../flags.ts";
import type { Host } from "../host.ts";
import { type Invocation, refuseTogether } from "../invocation.ts";
import { type RequestFlags, requestIdOf, requestIdOption } from "../request-flags.ts";
import { warnSpecial } from "../warn-special.ts";

interface CleanupFlags extends RequestFlags {
  readonly project?: string;
  readonly allProjects: boolean;
  readonly dryRun: boolean;
  readonly salvage: boolean;
  readonly deleteMergedBranches: boolean;
  readonly olderThan?: string;
}

/** `null` means all projects. */
async function scopeOf(ao: Ao, flags: CleanupFlags): Promise<ProjectId | null> {
  if (flags.allProjects) return null;
  if (flags.project !== undefined) return projectFilter(ao, flags.project);
  const { projects } = await ao.config();
  const found = await resolveProject(ao.deps, { flag: null, cwd: ao.cwd, config: projects });
  return found?.project.id ?? null;
}

/** What only its branch has is no reason to skip it, and worth knowing. */
function stayingOf(remains: CleanedSession["remains"]): string {
  if (remains === null) return "";
  const { branch, commits, stashes } = remains;
  const has = [some(commits, "commit"), some(stashes, "stash")].filter(Boolean).join(" and ");
  return `; branch ${printable(branch)} alone has ${has}`;
}

function goingOf(branch: string | null, dryRun: boolean): string {
  return branch === null
    ? ""
    : `, and ${dryRun ? "delete" : "deleted"} its merged branch ${printable(branch)}`;
}

function some(count: number, noun: string): string {
  return count === 0 ? "" : counted(count, noun);
}

function linesOf({ cleaned, branchesDeleted, skipped, pool, dryRun }: PrintedCleanup): readonly string[] {
  return [
    ...cleaned.map(({ id, salvageRef, remains, branchDeleted }) => {
      const kept = salvageRef === null ? "" : `, its work is kept in ${salvageRef}`;
      return `${dryRun ? "would free" : "freed"} ${id}${kept}${goingOf(branchDeleted, dryRun)}${stayingOf(remains)}`;
    }),
    ...branchesDeleted.map(({ id, branch }) => {
      const what = dryRun ? "would delete" : "deleted";
      return `${what} the merged branch ${printable(branch)} of ${id}, which was freed before`;
    }),
    ...skipped.map(({ id, reason, detail }) => `skipped ${id}: ${reason}: ${printable(detail)}`),
    ...pool.map(({ where, action, detail }) => {
      const what = action === "kept" ? "skipped" : dryRun ? "would remove" : "removed";
      return `${what} ${printable(where)}, made ahead: ${printable(detail)}`;
    }),
  ];
}

async function run(invocation: Invocation, flags: CleanupFlags): Promise<number> {
  refuseTogether([flags.project !== undefined, "--project"], [flags.allProjects, "--all-projects"]);
  refuseTogether([flags.dryRun, "--dry-run"], [flags.requestId !== undefined, "--request-id"]);
  const requestId = requestIdOf(flags);
  const olderThanMs = flags.olderThan === undefined ? null : durationFlag("--older-than", flags.olderThan);
  invocation.hold();
  const { dryRun, salvage, deleteMergedBranches } = flags;
  const ao = await invocation.open(dryRun ? "reading" : "existing");
  const projectId = await scopeOf(ao, flags);
  const onStep = invocation.progress.step;
  const isStopped = invocation.isInterrupted;
  const options = { projectId, dryRun, olderThanMs, salvage, deleteMergedBranches, onStep, isStopped };
  const result = printedCleanup(await cleanup(ao.deps, { ...options, requestId }));
  await invocation.print(result, () => linesOf(result));
  await warnSpecial(ao, invocation, result.cleaned);
  for (const { id, message } of result.errors) invocation.warn(`${id}: ${message}`);
  if (result.cleaned.length > 0 && !dryRun) invocation.note("the files wait in the trash until ao reconcile");
  const { cleaned, branchesDeleted, skipped, pool, errors } = result;
  if ([cleaned, branchesDeleted, skipped, pool, errors].flat().length === 0) {
    invocation.note("nothing to clean up");
  }
  return errors.length > 0 ? 1 : 0;
}

/** `ao cleanup`. */
export function cleanupCommand(host: Host): Command {
  return host
    .command({
      usage: "cleanup",
      purpose: "Free the worktrees of terminated sessions that hold nothing to lose",
      more: [
        "Skipped sessions are no failure; the reason is shown. Branches stay, but with --delete-merged-branches those",
        "that ao made and git proves merged into the default branch, of sessions freed before as well. With --salvage",
        "the work of a worktree is kept as a commit first, and is no reason to skip it; ao restore puts it back, and a",
        "deleted branch, too.",
        "The exit code is 1 when a session could not be cleaned, 5 when it could not look or git failed now and then;",
        "then nothing is removed. With --request-id a run that dies is carried on by the next command that changes",
        "something, or ao reconcile, by the plan it had made; repeated, it gives the first result.",
      ].join("\n"),
      examples: [
        ["ao cleanup --dry-run", "what would be freed, and what not and why"],
        ["ao cleanup --all-projects --older-than 2d --salvage --json", "for cron"],
      ],
    })
    .addOption(projectOption("only this project (default: the project here, outside of one all)"))
    .addOption(switchOption("--all-projects", "all projects, wherever this runs"))
    .addOption(switchOption("--dry-run", "print what would be done and do nothing"))
    .addOption(switchOption("--salvage", "keep the work in worktrees aside, then free them"))
    .addOption(
      switchOption("--delete-merged-branches", "also delete the branches ao made that git proves merged"),
    )
    .option(
      "--older-than <duration>",
      "only sessions that ended at least so long ago, in seconds without a unit (default: any)",
    )
    .addOption(requestIdOption())
    .addOption(jsonOption())
    .action(host.action(run));
}
