import { type Command, Option } from "commander";
import { printable } from "../../src/domain/printable.ts";
import { type TurnJson, toTurnJson } from "../../src/domain/turn-json.ts";
import { resolveSessionId } from "../../src/lifecycle/resolve-session-id.ts";
import { listTurns } from "../../src/lifecycle/turns/list-turns.ts";
import { age } from "../age.ts";
import { countFlag, jsonOption, switchOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { table } from "../table.ts";

const MAX_TURNS = 10_000;

interface TurnsFlags {
  readonly limit: string;
  readonly stored: boolean;
}

function cells(turn: TurnJson, nowMs: number): readonly string[] {
  const ended = turn.errorMessage ?? "";
  return [
    String(turn.sequence),
    turn.id,
    turn.outcome ?? turn.phase,
    turn.origin,
    age(Date.parse(turn.startedAt ?? turn.createdAt), nowMs),
    turn.checkpoint?.commit.slice(0, 12) ?? "",
    printable(ended),
  ];
}

async function turns(invocation: Invocation, name: string, flags: TurnsFlags): Promise<undefined> {
  const limit = countFlag("--limit", flags.limit, MAX_TURNS);
  const ao = await invocation.open("reading");
  const id = resolveSessionId(ao.deps, name);
  const { turns: found, unreadable } = await listTurns(ao.deps, id, { limit, stored: flags.stored });
  const data = found.map(toTurnJson);
  const nowMs = ao.deps.clock.nowMs();
  await invocation.print({ data }, () =>
    data.length === 0
      ? []
      : table({
          header: ["N", "TURN", "STATE", "ORIGIN", "AGE", "FILES", "ERROR"],
          rows: data.map((turn) => cells(turn, nowMs)),
          paint: invocation.paint,
          width: invocation.io.stdout.columns,
        }),
  );
  if (data.length === 0) invocation.note(`no turns of ${id} are known yet`);
  for (const { turnId, flaw } of unreadable) invocation.warn(`turn ${turnId} cannot be read (${flaw})`);
  return undefined;
}

/** `ao turns`. */
export function turnsCommand(host: Host): Command {
  return host
    .command({
      usage: "turns <session>",
      purpose: "Show the turns of a session, newest first",
      more: [
        "A turn is one prompt and all that follows until the agent rests. What is shown is what the agent itself told",
        "through its hooks, so agents without hooks have none. Looks and listens once, and writes nothing.",
        "FILES is the commit that last kept the files of a turn, for ao rewind.",
      ].join("\n"),
      examples: [
        ["ao turns app-7", "what it was asked, how each turn ended"],
        ["ao turns app-7 --limit 1 --json", "the last turn, for a script"],
      ],
    })
    .addOption(new Option("--limit <count>", "how many at most").default("50"))
    .addOption(switchOption("--stored", "do not look or listen, show what was last recorded"))
    .addOption(jsonOption())
    .action(host.action(turns));
}
