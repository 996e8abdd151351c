import type { Command } from "commander";
import { toForkJson } from "../../src/domain/fork.ts";
import { printable } from "../../src/domain/printable.ts";
import { parsePrompt, parseTitle } from "../../src/domain/user-text.ts";
import { forkConfigured } from "../../src/lifecycle/configured-sessions.ts";
import type { ForkResult } from "../../src/lifecycle/forks/fork-request.ts";
import { resolveSessionId } from "../../src/lifecycle/resolve-session-id.ts";
import { jsonOption } from "../flags.ts";
import type { Host } from "../host.ts";
import { type Invocation, openWhole } from "../invocation.ts";
import { type RequestFlags, requestIdOf, requestIdOption } from "../request-flags.ts";
import { sessionJson } from "../session-view.ts";
import { namedTurn, turnFlag } from "../turn-flag.ts";

interface ForkFlags extends RequestFlags {
  readonly at?: string;
  readonly branch?: string;
  readonly prompt?: string;
  readonly title?: string;
}

function linesOf({ record: { id, metadata } }: ForkResult): readonly string[] {
  const { fork } = metadata;
  const from = fork === undefined ? "" : ` from ${fork.parentId} at turn ${fork.turnId}`;
  return [
    `forked    ${id}${from}`,
    `branch    ${printable(metadata.branch)}`,
    `worktree  ${printable(metadata.workspacePath)}`,
    `attach    ao attach ${id}`,
    `SESSION=${id}`,
  ];
}

async function fork(invocation: Invocation, name: string, flags: ForkFlags): Promise<undefined> {
  const { at, branch = null, prompt, title } = flags;
  const turn = at === undefined ? null : turnFlag("--at", at);
  const request = {
    prompt: prompt === undefined ? null : parsePrompt(prompt),
    title: title === undefined ? null : parseTitle(title),
    ...{ branch, requestId: requestIdOf(flags), onStep: invocation.progress.step },
  };
  invocation.hold();
  const ao = await openWhole(invocation);
  const id = resolveSessionId(ao.deps, name);
  const turnId = turn && namedTurn(ao, id, turn);
  const result = await forkConfigured(ao, id, { ...request, turnId });
  for (const warning of result.warnings) invocation.warn(warning);
  const session = sessionJson(ao, result.record);
  await invocation.print({ ...toForkJson(result.operation), session, warnings: result.warnings }, () =>
    linesOf(result),
  );
  return undefined;
}

/** `ao fork`. */
export function forkCommand(host: Host): Command {
  return host
    .command({
      usage: "fork <session>",
      purpose: "Make a session from the past of another one: its conversation and its files",
      more: [
        "The new session has the conversation through a turn, and in a worktree of its own the files as they stood",
        "at its end, what was not committed included. Files that git ignores are not copied. The other session goes",
        "on as it is, also while it works.",
      ].join("\n"),
      examples: [
        ["ao fork app-7", "from the end of its last turn"],
        ['ao fork app-7 --at 3f0c… --prompt "try it without a cache"', "the id is in ao turns app-7"],
      ],
    })
    .option(
      "--at <turn>",
      "the last turn that both have, by number or whole id (default: the last one that is over)",
    )
    .option("--branch <name>", "branch to work on, made where the turn ended (default: a new session/<id>)")
    .option("--prompt <text>", "what its agent is to do")
    .option("--title <text>", "one line that says what it is about (default: that of the family, numbered)")
    .addOption(requestIdOption())
    .addOption(jsonOption())
    .action(host.action(fork));
}
