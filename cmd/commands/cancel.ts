import type { Command } from "commander";
import type { Ao } from "../../src/compose.ts";
import { isTerminal } from "../../src/domain/lifecycle.ts";
import { printable } from "../../src/domain/printable.ts";
import type { SessionRecord } from "../../src/domain/session.ts";
import { type CancelResult, cancelTurn } from "../../src/lifecycle/cancel/cancel-turn.ts";
import { resolveSessionId } from "../../src/lifecycle/resolve-session-id.ts";
import { requireSession } from "../../src/lifecycle/session-refs.ts";
import { jsonOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { namedTurn, turnFlag } from "../turn-flag.ts";

interface CancelFlags {
  readonly turn?: string;
  readonly reason: string;
}

function lineOf({ id, lifecycle }: SessionRecord, { turnId, state, outcome }: CancelResult): string {
  const turn = turnId === null ? "" : ` ${turnId}`;
  if (state !== "not_found") return `${id}:${turn} ${state}${outcome === null ? "" : ` (${outcome})`}`;
  if (turnId !== null) return `${id}: it has no turn${turn}`;
  const isOver = isTerminal(lifecycle);
  return `${id}: no turn goes on, ${isOver ? "the session has ended" : "there is nothing to stop"}`;
}

/** Why the last try did not settle it, where that is known. */
function whyNotSettled({ operations }: Ao["deps"], { operationId }: CancelResult): string {
  const why = operationId === null ? null : (operations.get(operationId)?.lastError ?? null);
  return why === null ? "" : ` (${printable(why)})`;
}

async function cancel(invocation: Invocation, name: string, flags: CancelFlags): Promise<number> {
  const named = flags.turn === undefined ? undefined : turnFlag("--turn", flags.turn);
  invocation.hold();
  const ao = await invocation.open("existing");
  const id = resolveSessionId(ao.deps, name);
  const turn = named === undefined ? {} : { turnId: namedTurn(ao, id, named) };
  invocation.progress.step(`stopping the turn of ${id}`);
  const result = await cancelTurn(ao.deps, id, { ...turn, reason: flags.reason });
  await invocation.print(result, () => [lineOf(requireSession(ao.deps, id), result)]);
  if (result.state !== "cancel_requested") return 0;
  const why = whyNotSettled(ao.deps, result);
  invocation.note(`the agent did not confirm it yet${why}; ao reconcile tries again, within ten minutes`);
  return 1;
}

/** `ao cancel`. */
export function cancelCommand(host: Host): Command {
  return host
    .command({
      usage: "cancel <session>",
      purpose: "Stop the running turn of a session's agent, not the session",
      more: [
        "The wish is put on record first, and the agent told once; only its own word counts as a confirmation.",
        "The exit code is 0 when the turn is over or none goes on, and 1 while that is not known.",
      ].join("\n"),
      examples: [
        ["ao cancel app-7", "stop what it is doing"],
        ["ao cancel app-7 --turn 3f0c… --json", "exactly that turn, for a script"],
      ],
    })
    .option(
      "--turn <turn>",
      "this turn, by number or whole id, and no later one (default: the one that goes on)",
    )
    .option("--reason <text>", "why, for those who read the record", "user_requested")
    .addOption(jsonOption())
    .action(host.action(cancel));
}
