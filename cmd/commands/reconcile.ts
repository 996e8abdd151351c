import { setTimeout } from "node:timers/promises";
import type { Command } from "commander";
import type { Ao } from "../../src/compose.ts";
import { dataLayout } from "../../src/domain/data-layout.ts";
import { AoError } from "../../src/domain/errors.ts";
import { printable } from "../../src/domain/printable.ts";
import { configuredEnv } from "../../src/lifecycle/configured-sessions.ts";
import { keptWithoutStore } from "../../src/lifecycle/recovery/find-orphans.ts";
import { reconcile } from "../../src/lifecycle/recovery/reconcile.ts";
import type { Orphan, ReconcileResult } from "../../src/lifecycle/recovery/reconcile-result.ts";
import type { RecoveryError } from "../../src/lifecycle/recovery/recovery.ts";
import { counted } from "../counted.ts";
import { durationFlag, jsonOption, switchOption } from "../flags.ts";
import type { Host } from "../host.ts";
import { type Invocation, openWhole } from "../invocation.ts";

const MIN_INTERVAL_MS = 100;
/** A timer of Node holds 24 days. */
const MAX_INTERVAL_MS = 86_400_000;

const NOTHING: ReconcileResult = {
  ...{ observed: 0, transitions: [], operations: [], goals: [], messages: [], orphans: [] },
  ...{ pool: [], setAside: 0, errors: [] },
};

/** With the command that is next, where there is one. */
function orphanLine({ kind, where, sessionId, action, detail, salvageRef, fix }: Orphan): string {
  const told = `orphan ${kind} of ${sessionId} ${action}: ${printable(where)}: ${printable(detail)}`;
  const kept = salvageRef === null ? "" : `; kept in ${salvageRef}`;
  return fix === null ? `${told}${kept}` : `${told}${kept}; to keep that aside: ${printable(fix)}`;
}

function linesOf(result: ReconcileResult): readonly string[] {
  const { observed, transitions, operations, goals, messages, orphans, pool } = result;
  return [
    ...operations.map(({ kind, sessionId, id, outcome }) => `${kind} of ${sessionId ?? id} ${outcome}`),
    ...transitions.map(({ id, from, to, reason }) => `${id} ${from} -> ${to}${reason ? ` (${reason})` : ""}`),
    ...goals.map(
      ({ sessionId, kind, turnsUsed }) => `goal of ${sessionId} ${kind} after ${counted(turnsUsed, "turn")}`,
    ),
    ...messages.map(({ messageId, sessionId, state }) => `message ${messageId} for ${sessionId} ${state}`),
    ...orphans.map(orphanLine),
    ...pool.map(
      ({ projectId, where, action, detail }) =>
        `worktree of the pool of ${projectId} ${action}: ${printable(where)}: ${printable(detail)}`,
    ),
    `looked at ${counted(observed, "session")}`,
  ];
}

interface Flags {
  readonly interval?: string;
  readonly salvage: boolean;
}

async function tick(ao: Ao, { salvage }: Pick<Flags, "salvage">): Promise<ReconcileResult> {
  const { deps, dataDirectory, isNew } = ao;
  if (!isNew) return reconcile(deps, { salvage, envOf: (record) => configuredEnv(ao, record) });
  // Without a store nothing can be known to be nobody's: it is only named.
  if (!dataDirectory.exists()) return NOTHING;
  const orphans = await keptWithoutStore(deps);
  return orphans.length === 0 ? NOTHING : { ...NOTHING, orphans, errors: [storeLost(deps)] };
}

function storeLost({ dataDir }: Ao["deps"]): RecoveryError {
  const message = `the database ${dataLayout(dataDir).database} is gone, and what its sessions made is there`;
  return { subject: "store", code: "store_corrupt", message };
}

async function once(invocation: Invocation, flags: Flags): Promise<number> {
  const result = await tick(await openWhole(invocation, { mayLackStore: true }), flags);
  await invocation.print(result, () => linesOf(result));
  for (const { subject, message } of result.errors) invocation.warn(`${subject}: ${message}`);
  return result.errors.length > 0 ? 1 : 0;
}

/** One line of JSON a tick; for a person only what is news. */
function printTick({ io, json, warn }: Invocation, result: ReconcileResult): void {
  const [, ...news] = [...linesOf(result)].reverse();
  const lines = json ? [JSON.stringify(result)] : news.reverse();
  if (lines.length > 0) io.stdout.write(`${lines.join("\n")}\n`);
  for (const { subject, message } of result.errors) warn(`${subject}: ${message}`);
}

/** One tick after the other until a signal comes or nobody reads any more; what fails is told and not the end. */
async function keepTicking(invocation: Invocation, intervalMs: number, flags: Flags): Promise<number> {
  const { interruption, stdout } = invocation.io;
  let ao: Ao | undefined;
  while (!interruption.signal.aborted && stdout.writable) {
    try {
      ao ??= await openWhole(invocation, { mayLackStore: true });
      printTick(invocation, await tick(ao, flags));
      // A store that is not there yet may be there next time.
      if (ao.isNew) ao = closed(ao);
    } catch (error) {
      invocation.report(error);
      ao = closed(ao);
    }
    await setTimeout(intervalMs, undefined, { signal: interruption.signal }).catch(() => undefined);
  }
  return 0;
}

function closed(ao: Ao | undefined): undefined {
  ao?.close();
}

async function run(invocation: Invocation, flags: Flags): Promise<number> {
  const { interval } = flags;
  const intervalMs = interval === undefined ? null : durationFlag("--interval", interval);
  if (intervalMs !== null && (intervalMs < MIN_INTERVAL_MS || intervalMs > MAX_INTERVAL_MS)) {
    throw new AoError("usage", `--interval must be from 100ms to 1d, is ${JSON.stringify(interval)}`);
  }
  invocation.hold();
  return intervalMs === null ? once(invocation, flags) : keepTicking(invocation, intervalMs, flags);
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
        "Runtimes and worktrees of nobody are removed when nothing would be lost, and named when something would. With",
        "--salvage the work of such a worktree is kept first, then it is freed: ao salvage list, and into a session",
        "again by ao salvage restore <salvage> --into <session>.",
        "Where the configuration asks for a pool, worktrees are made ahead for the next spawns.",
        "With --interval and --json each tick is one line; what fails is told, and the next tick tries again.",
        "The exit code is 1 when something could not be looked at or carried on; everything else was.",
      ].join("\n"),
      examples: [
        ["ao reconcile --json", "for cron"],
        ["ao reconcile --interval 5s", "in a terminal of its own"],
      ],
    })
    .option("--interval <duration>", "go on, with a tick this often, until it is interrupted")
    .addOption(switchOption("--salvage", "keep the work in worktrees of nobody aside, then free them"))
    .addOption(jsonOption())
    .action(host.action(run));
}
