import type { Command } from "commander";
import type { Ao } from "../../src/compose.ts";
import type { GoalState } from "../../src/domain/goal.ts";
import { toGoalJson } from "../../src/domain/goal-json.ts";
import { parseObjective } from "../../src/domain/goal-text.ts";
import { DEFAULT_MAX_TURNS, type GoalControl } from "../../src/domain/goal-transitions.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import { controlGoal } from "../../src/lifecycle/goals/control-goal.ts";
import { fenceGoal } from "../../src/lifecycle/goals/fence-goal.ts";
import { resolveSessionId } from "../../src/lifecycle/resolve-session-id.ts";
import { durationFlag, jsonOption } from "../flags.ts";
import { type GoalLimitFlags, goalLimits } from "../goal-flags.ts";
import { afterResume, goalLines } from "../goal-view.ts";
import type { CommandText, Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { readText } from "../read-text.ts";
import { type RequestFlags, requestIdOf, requestIdOption } from "../request-flags.ts";

const NO_CONTROL = { objective: null, maxTurns: null, until: null };

async function printGoal(
  invocation: Invocation,
  state: GoalState | undefined,
  session: string,
): Promise<void> {
  const goal = state === undefined ? null : toGoalJson(state);
  await invocation.print(goal, () => goalLines(goal, session));
}

interface ControlFlags extends RequestFlags {
  readonly timeout?: string;
}

async function opened(
  invocation: Invocation,
  name: string,
): Promise<{ readonly ao: Ao; readonly id: SessionId }> {
  invocation.hold();
  const ao = await invocation.open("existing");
  return { ao, id: resolveSessionId(ao.deps, name) };
}

interface Order {
  readonly control: GoalControl;
  readonly flags: ControlFlags;
  /** A word to the person who gives it, by the goal before and after. */
  readonly tell?: (before: GoalState | undefined, after: GoalState) => string | null;
}

async function give(
  invocation: Invocation,
  name: string,
  { control, flags, tell }: Order,
): Promise<undefined> {
  const waitMs = flags.timeout === undefined ? 0 : durationFlag("--timeout", flags.timeout);
  const requestId = requestIdOf(flags);
  const { ao, id } = await opened(invocation, name);
  invocation.progress.step(`${control.action} the goal of ${id}`);
  const before = ao.deps.goals.state(id);
  const { state, waitsFor } = await controlGoal(ao.deps, id, control, { requestId, waitMs });
  await printGoal(invocation, state, id);
  const said = tell?.(before, state) ?? null;
  if (said !== null) invocation.note(said);
  if (waitsFor !== null) invocation.note(`on record; ${waitsFor}; ao reconcile goes on with it`);
  return undefined;
}

interface SetFlags extends ControlFlags, GoalLimitFlags {
  readonly file?: string;
}

async function set(invocation: Invocation, name: string, words: readonly string[], flags: SetFlags) {
  const { file } = flags;
  const text = words.length > 0 ? words.join(" ") : await readText(invocation.io, file ?? "-", "--file");
  const control = { action: "set", objective: parseObjective(text), ...goalLimits(flags) } as const;
  return give(invocation, name, { control, flags });
}

async function resume(invocation: Invocation, name: string, flags: ControlFlags & GoalLimitFlags) {
  const { maxTurns } = goalLimits(flags);
  const control = { ...NO_CONTROL, action: "resume", maxTurns } as const;
  return give(invocation, name, { control, flags, tell: afterResume });
}

function bare(action: "pause" | "clear") {
  return (invocation: Invocation, name: string, flags: ControlFlags) =>
    give(invocation, name, { control: { ...NO_CONTROL, action }, flags });
}

async function show(invocation: Invocation, name: string): Promise<undefined> {
  const ao = await invocation.open("reading");
  const id = resolveSessionId(ao.deps, name);
  await printGoal(invocation, ao.deps.goals.state(id), id);
  return undefined;
}

interface FenceFlags extends RequestFlags {
  readonly operation?: string;
  readonly reason: string;
}

async function fence(invocation: Invocation, name: string, flags: FenceFlags): Promise<undefined> {
  const requestId = requestIdOf(flags);
  const { ao, id } = await opened(invocation, name);
  invocation.progress.step(`revoking the goal of ${id}`);
  const { operation, reason } = flags;
  const request = { requestId, reason, ...(operation !== undefined && { targetOperationId: operation }) };
  const result = await fenceGoal(ao.deps, id, request);
  const { operationId, target, intentAccepted, settled, waitsFor } = result;
  const told = { operationId, target, reason, intentAccepted, settled, waitsFor };
  await invocation.print({ ...toGoalJson(result.state), fence: told }, () => [
    `${target.operationId} of ${id} is revoked${settled ? "" : "; it is on record and not settled yet"}`,
  ]);
  if (waitsFor !== null) invocation.note(`${waitsFor}; ao reconcile goes on with it`);
  return undefined;
}

const WAIT = "--timeout <duration>";
const WAIT_MEANS = "how long to wait for an agent that cannot be told now (default: not at all)";

function order(host: Host, text: CommandText): Command {
  return host.command(text).addOption(requestIdOption()).addOption(jsonOption());
}

function setCommand(host: Host): Command {
  return order(host, {
    usage: "set <session> [text...]",
    purpose: "Give a session a standing goal, in place of the one it has",
    more: [
      "The text reaches the agent as a message that begins a turn. Whenever the agent rests, ao reconcile asks --until,",
      "which is run by sh -c in the worktree with the agent's environment, for 60 s at most, and sends the next turn.",
      "Without text it is read from --file, or standard input.",
    ].join("\n"),
    examples: [
      ['ao goal set app-7 "make the tests pass" --until "npm test"', "goes on until npm test ends with 0"],
      ["ao goal set app-7 --file goal.md --max-turns 5 --json", "five turns at most, for a script"],
    ],
  })
    .option("--file <path>", "read the text from a file, `-` for standard input")
    .option("--max-turns <n>", `turns that it may take (default: ${DEFAULT_MAX_TURNS})`)
    .option("--until <command>", "a command whose exit 0 means that the goal is reached")
    .option(WAIT, WAIT_MEANS)
    .action(host.action(set));
}

function showCommand(host: Host): Command {
  return host
    .command({
      usage: "show <session>",
      purpose: "Show the goal of a session; a pure read",
      examples: [
        ["ao goal show app-7", "status, turns, and what its command last wrote"],
        ["ao goal show @ --json", "that of the session this command runs in"],
      ],
    })
    .addOption(jsonOption())
    .action(host.action(show));
}

function pauseCommand(host: Host): Command {
  return order(host, {
    usage: "pause <session>",
    purpose: "Keep the goal of a session, and do not go on with it",
    examples: [
      ["ao goal pause app-7", "the turn that runs is not stopped: ao cancel app-7"],
      ["ao goal pause app-7 --json", "for a script"],
    ],
  }).action(host.action(bare("pause")));
}

function resumeCommand(host: Host): Command {
  return order(host, {
    usage: "resume <session>",
    purpose: "Go on with a goal that was paused, blocked or completed, or ran out of turns",
    examples: [
      ["ao goal resume app-7", "from the next tick of ao reconcile on"],
      ["ao goal resume app-7 --max-turns 50", "with more turns"],
    ],
  })
    .option("--max-turns <n>", "turns that it may take in all (default: as before)")
    .action(host.action(resume));
}

function clearCommand(host: Host): Command {
  return order(host, {
    usage: "clear <session>",
    purpose: "Take the goal of a session away",
    examples: [
      ["ao goal clear app-7", "what was queued for it is not sent"],
      ["ao goal clear app-7 --json", "for a script"],
    ],
  }).action(host.action(bare("clear")));
}

function fenceCommand(host: Host): Command {
  return order(host, {
    usage: "fence <session>",
    purpose: "Revoke one order of a goal for ever, and stop the turn that works for it",
    more: [
      "As when the issue behind a session is withdrawn (ao issue close). A newer goal of the session is left alone. An",
      "order has to be there to be revoked: without a goal it is exit 4, unless a fence has cleared it, which is told again.",
    ].join("\n"),
    examples: [
      ["ao goal fence app-7 --reason binding_revoked", "the order that the goal is at"],
      ["ao goal fence app-7 --operation 3f0c… --json", "exactly that order, for a script"],
    ],
  })
    .option("--operation <id>", "this order (default: that of the goal as it stands; see ao goal show)")
    .option("--reason <text>", "why, for those who read the record", "binding_revoked")
    .action(host.action(fence));
}

/** `ao goal …`. */
export function goalCommand(host: Host): Command {
  const goal = host.command({
    usage: "goal",
    purpose: "Standing goals: what an agent works on over many turns",
    more: "A goal is taken up again only while its agent rests, turns are left, and nothing waits for the agent.",
    examples: [
      ['ao goal set app-7 "make the tests pass" --until "npm test"', "begins at once"],
      ["ao goal show app-7", "how far it is"],
    ],
  });
  const parts = [setCommand, showCommand, pauseCommand, resumeCommand, clearCommand, fenceCommand];
  for (const build of parts) goal.addCommand(build(host));
  return goal;
}
