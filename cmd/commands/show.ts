import type { Command } from "commander";
import { type FactsJson, factSources } from "../../src/domain/fact-sources.ts";
import { type GoalJson, toGoalJson } from "../../src/domain/goal-json.ts";
import { launchedAtMs } from "../../src/domain/launched-at.ts";
import { type OperationJson, toOperationJson } from "../../src/domain/operation-json.ts";
import { printable } from "../../src/domain/printable.ts";
import { meaningOf } from "../../src/domain/reason-meaning.ts";
import type { SessionJson } from "../../src/domain/session-json.ts";
import { type TurnJson, toTurnJson } from "../../src/domain/turn-json.ts";
import { getSession } from "../../src/lifecycle/observe/list-sessions.ts";
import { resolveSessionId } from "../../src/lifecycle/resolve-session-id.ts";
import {
  summarizeTranscript,
  type TranscriptSummaryJson,
} from "../../src/lifecycle/transcripts/summarize-transcript.ts";
import { listTurns } from "../../src/lifecycle/turns/list-turns.ts";
import { counted } from "../counted.ts";
import { jsonOption, switchOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { sessionJson } from "../session-view.ts";
import { turnInFlightText } from "../transcript-view.ts";

/** What only `show` tells of a session. */
interface Shown extends SessionJson {
  /** What whoever ended it wrote down. */
  readonly killNote: string | null;
  /** Conversations that a fresh restore has left behind, the newest last. */
  readonly previousAgentSessionIds: readonly string[];
  /** The newest ones, newest first. */
  readonly turns: readonly TurnJson[];
  /** `null` when it never had one. */
  readonly goal: GoalJson | null;
  /** The newest ones, newest first. */
  readonly operations: readonly OperationJson[];
  /** What `ao` has recorded of the conversation; `null` when that is nothing. */
  readonly transcript: TranscriptSummaryJson | null;
  /** What is known, and from where. */
  readonly facts: FactsJson;
}

const MAX_OPERATIONS = 20;
const MAX_TURNS = 20;

function turnText({ phase, outcome, origin, updatedAt, errorMessage }: TurnJson): string {
  return `${outcome ?? phase} (${origin}) ${updatedAt}${errorMessage ? `: ${errorMessage}` : ""}`;
}

function operationText({ kind, state, updatedAt, error, holder }: OperationJson): string {
  const more = error?.message ?? (holder && `process ${holder.pid}, ${holder.command}`);
  return `${kind} ${state} ${updatedAt}${more ? `: ${more}` : ""}`;
}

function transcriptText({ transcript }: Shown): string | null {
  if (transcript === null) return null;
  const { messages, savedAt, health, turnInFlight, unsaved } = transcript;
  const when = savedAt === null ? "" : `, saved ${savedAt}`;
  const turn = turnInFlight === null ? "" : `, ${turnInFlightText(turnInFlight)}`;
  return `${counted(messages, "message")}, ${health}${when}${turn}${unsaved === null ? "" : `; NOT saved since: ${unsaved}`}`;
}

function goalFields(goal: GoalJson | null): readonly (readonly [string, string | null])[] {
  if (goal === null || goal.tombstoned) return [];
  const { status, syncStatus, turnsUsed, maxTurns, detail, until, check, objective } = goal;
  const how = check === null ? "" : `: last ${check.exitCode ?? "broken off"}, ${check.at}`;
  return [
    ["goal", `${status} (${syncStatus}), turn ${turnsUsed} of ${maxTurns}${detail ? `: ${detail}` : ""}`],
    ["objective", objective],
    ["until", until && `${until}${how}`],
  ];
}

function activityText({ activity, silentSince }: FactsJson): string | null {
  if (silentSince !== null) return `no signal since its start, ${silentSince}`;
  const { state, at, source, confidence } = activity;
  return state && `${state}, ${at} [${source}${confidence === "low" ? ", low confidence" : ""}]`;
}

function exitText({ runtime }: SessionJson): string | null {
  if (!runtime?.exit) return null;
  const { status, signal, at } = runtime.exit;
  return `${signal ?? `status ${status}`}${at === null ? "" : `, ${at}`}`;
}

function linesOf(session: Shown, invocation: Invocation): readonly string[] {
  const { lifecycle, facts } = session;
  const reason = lifecycle.session.reason === null ? "" : ` (${lifecycle.session.reason})`;
  const fields: readonly (readonly [string, string | null])[] = [
    ["status", `${session.status}${reason} [${facts.session.source}]`],
    ["meaning", meaningOf(lifecycle.session, session.runtime?.exit ?? null)],
    ["project", session.projectId],
    ["kind", session.kind],
    ["title", session.title],
    ["issue", session.issueId],
    ["agent", session.agent],
    ["conversation", session.agentSessionId],
    ...session.previousAgentSessionIds.map((id) => ["earlier", id] as const).toReversed(),
    ["branch", session.branch],
    ["forked from", session.parentId && `${session.parentId} at turn ${session.forkedFromTurnId}`],
    ["from", session.baseRef],
    ["worktree", session.workspacePath],
    ["runtime", `${lifecycle.runtime.state} (${lifecycle.runtime.reason}) [${facts.runtime.source}]`],
    ["exit", exitText(session)],
    ["activity", activityText(facts)],
    ["pull request", session.pr],
    ["transcript", transcriptText(session)],
    ["created", session.createdAt],
    ["terminated", session.terminatedAt],
    ["note", session.killNote],
    ...goalFields(session.goal),
    ...session.turns.map((turn) => ["turn", turnText(turn)] as const),
    ...session.operations.map((operation) => ["operation", operationText(operation)] as const),
    ["attach", session.runtime?.attach ? `ao attach ${session.id}` : null],
  ];
  const known = fields.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  return [
    invocation.paint("bold", session.id),
    ...known.map(([name, value]) => `  ${invocation.paint("dim", name.padEnd(12))}  ${printable(value)}`),
  ];
}

async function show(invocation: Invocation, name: string, flags: { readonly stored: boolean }) {
  const ao = await invocation.open("reading");
  const record = await getSession(ao.deps, resolveSessionId(ao.deps, name), flags);
  const { operations, unreadable } = ao.deps.operations.ofSession(record.id, MAX_OPERATIONS);
  const { turns, unreadable: lost } = await listTurns(ao.deps, record.id, {
    limit: MAX_TURNS,
    stored: flags.stored,
  });
  const goal = ao.deps.goals.state(record.id);
  const session: Shown = {
    ...sessionJson(ao, record),
    killNote: record.metadata.killNote,
    previousAgentSessionIds: record.metadata.previousAgentSessionIds,
    turns: turns.map(toTurnJson),
    goal: goal === undefined ? null : toGoalJson(goal),
    operations: operations.map(toOperationJson),
    transcript: await summarizeTranscript(ao.deps, record, turns),
    facts: factSources(record.lifecycle, {
      nowMs: ao.deps.clock.nowMs(),
      launchedAtMs: launchedAtMs(record),
    }),
  };
  await invocation.print(session, () => linesOf(session, invocation));
  for (const { turnId, flaw } of lost) invocation.warn(`turn ${turnId} cannot be read (${flaw})`);
  for (const { id, flaw } of unreadable) invocation.warn(`operation ${id} cannot be read (${flaw})`);
  return undefined;
}

/** `ao show`. */
export function showCommand(host: Host): Command {
  return host
    .command({
      usage: "show <session>",
      purpose: "Show one session with all that is known of it",
      examples: [
        ["ao show app-7", "status, branch, worktree, and how to attach"],
        ["ao show @ --json", "the session this command runs in, for a script"],
      ],
    })
    .addOption(switchOption("--stored", "do not look at the session, show what was last recorded"))
    .addOption(jsonOption())
    .action(host.action(show));
}
