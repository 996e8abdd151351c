import { type GoalState, goalStatus } from "../src/domain/goal.ts";
import type { GoalJson } from "../src/domain/goal-json.ts";
import { printable } from "../src/domain/printable.ts";

/** A goal as a person reads it, a line a field. */
export function goalLines(goal: GoalJson | null, session: string): readonly string[] {
  if (goal === null || goal.tombstoned) return [`${session} has no goal`];
  const { objective, status, detail, syncStatus, revision, turnsUsed, maxTurns, until, check } = goal;
  const fields: readonly (readonly [string, string | null])[] = [
    ["goal", objective],
    ["status", `${status}${detail ? `: ${detail}` : ""}`],
    ["sync", `${syncStatus}, revision ${revision}`],
    ["turns", `${turnsUsed} of ${maxTurns}`],
    ["until", until],
    ["last check", check && `exit ${check.exitCode ?? "none"}, ${check.at}`],
    ["its output", check?.output ? check.output.trimEnd() : null],
    ["error", goal.lastError],
    ["operation", goal.operationId],
  ];
  const known = fields.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  return known.map(([name, value]) => `${name.padEnd(10)}  ${printable(value)}`);
}

/** What a goal that had come to its end does now that it is active again; `null` where that is plain. */
export function afterResume(before: GoalState | undefined, { desired, turnsUsed }: GoalState): string | null {
  if (before === undefined || desired === null) return null;
  const { until, maxTurns } = desired;
  if (turnsUsed >= maxTurns) return `all of its ${maxTurns} turns are used: allow more with --max-turns`;
  if (goalStatus(before) !== "completed" || until === null) return null;
  return "it was completed; its command is asked again when the agent rests, and exit 0 completes it at once";
}
