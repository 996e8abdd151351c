import type { Command } from "commander";
import { printable } from "../../src/domain/printable.ts";
import { reconcile } from "../../src/lifecycle/recovery/reconcile.ts";
import type { ReconcileResult } from "../../src/lifecycle/recovery/reconcile-result.ts";
import { jsonOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";

const NOTHING: ReconcileResult = {
  ...{ observed: 0, transitions: [], operations: [], orphans: [] },
  ...{ setAside: 0, errors: [] },
};

function linesOf({ observed, transitions, operations, orphans }: ReconcileResult): readonly string[] {
  return [
    ...operations.map(({ kind, sessionId, id, outcome }) => `${kind} of ${sessionId ?? id} ${outcome}`),
    ...transitions.map(({ id, from, to, reason }) => `${id} ${from} -> ${to}${reason ? ` (${reason})` : ""}`),
    ...orphans.map(
      ({ kind, where, sessionId, action, detail }) =>
        `orphan ${kind} of ${sessionId} ${action}: ${printable(where)}: ${printable(detail)}`,
    ),
    `looked at ${observed} ${observed === 1 ? "session" : "sessions"}`,
  ];
}

async function tick(invocation: Invocation): Promise<number> {
  invocation.hold();
  const ao = await invocation.open("existing");
  // Without a store nothing can be known to be nobody's.
  const result = ao.isNew ? NOTHING : await reconcile(ao.deps);
  await invocation.print(result, () => linesOf(result));
  for (const { subject, message } of result.errors) invocation.warn(`${subject}: ${message}`);
  return result.errors.length > 0 ? 1 : 0;
}

/** `ao reconcile`. */
export function reconcileCommand(host: Host): Command {
  return host
    .command({
      usage: "reconcile",
      purpose:
        "Finish or take back what was broken off, look at every session once, take away what nobody owns",
      more: [
        "What commands that died have left is carried to its end where that is safe, and taken back where it is not.",
        "Runtimes and worktrees of nobody are removed when nothing would be lost, and named when something would.",
        "The exit code is 1 when something could not be looked at or carried on; everything else was.",
      ].join("\n"),
      examples: [
        ["ao reconcile", "set right what a crash or a reboot has left"],
        ["ao reconcile --json", "for cron"],
      ],
    })
    .addOption(jsonOption())
    .action(host.action(tick));
}
