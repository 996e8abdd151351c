import type { Command } from "commander";
import { printable } from "../../src/domain/printable.ts";
import { parseIssueId } from "../../src/domain/user-text.ts";
import { spawnPlanned } from "../../src/lifecycle/configured-sessions.ts";
import { planBatch, type SkippedIssue } from "../../src/lifecycle/spawn/batch-spawn.ts";
import { jsonOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { errorJson } from "../report-error.ts";
import { sessionJson } from "../session-view.ts";
import { type Failure, forEachOf } from "../several.ts";
import { addSpawnFlags, prepareSpawn, type SpawnFlags, spawnInput } from "../spawn-flags.ts";

interface Summary {
  readonly created: readonly { readonly id: string }[];
  readonly skipped: readonly SkippedIssue[];
  readonly failed: readonly Failure[];
}

function linesOf({ created, skipped, failed }: Summary): readonly string[] {
  return [
    ...skipped.map(({ issueId, reason, sessionId }) =>
      sessionId
        ? `skipped ${printable(issueId)}: ${sessionId} works on it`
        : `skipped ${printable(issueId)}: ${reason}`,
    ),
    ...failed.map(({ id, error }) => `failed ${printable(id)}: ${printable(error.message)}`),
    `${created.length} created, ${skipped.length} skipped, ${failed.length} failed`,
    ...created.map(({ id }) => `SESSION=${id}`),
  ];
}

async function batchSpawn(
  invocation: Invocation,
  issues: readonly string[],
  flags: SpawnFlags,
): Promise<number> {
  const input = { ...(await spawnInput(invocation, flags)), issueId: null, title: null, branch: null };
  const named = issues.map(parseIssueId);
  invocation.hold();
  const { project = null, agent = null } = flags;
  const { ao, plan } = await prepareSpawn(invocation, { project, agent, kind: "worker" }, input);
  const { wanted, skipped } = await planBatch(ao.deps, plan.found.project.id, named);
  const { results: created, failures: failed } = await forEachOf(
    wanted,
    async (issueId) => {
      const { record, warnings } = await spawnPlanned(ao, plan, { ...input, issueId });
      for (const warning of warnings) invocation.warn(`${record.id}: ${warning}`);
      return { ...sessionJson(ao, record), warnings };
    },
    invocation.isInterrupted,
  );
  await invocation.print(
    {
      created,
      skipped,
      failed: failed.map(({ id, error }) => ({ issueId: id, error: errorJson(error) })),
    },
    () => linesOf({ created, skipped, failed }),
  );
  return failed.length > 0 ? 1 : 0;
}

/** `ao batch-spawn`. */
export function batchSpawnCommand(host: Host): Command {
  const command = host.command({
    usage: "batch-spawn <issues...>",
    purpose: "Spawn a session for each of several issues",
    more: "Skips an issue that was named twice or has a live session. The exit code is 1 if any failed.",
    examples: [
      ["ao batch-spawn 41 42 43 --prompt-file task.md", "three sessions with the same prompt"],
      ["ao batch-spawn 42 --json", "what was created, skipped and failed, for a script"],
    ],
  });
  return addSpawnFlags(command.usage("[options] <issues...> [-- <agent arguments…>]"))
    .addOption(jsonOption())
    .action(host.action(batchSpawn));
}
