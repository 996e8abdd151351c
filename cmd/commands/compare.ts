import type { Command } from "commander";
import type { FileChange } from "../../src/domain/file-change.ts";
import { printable } from "../../src/domain/printable.ts";
import {
  type ComparedSession,
  type Comparison,
  compareSessions,
} from "../../src/lifecycle/forks/compare-sessions.ts";
import { resolveSessionId } from "../../src/lifecycle/resolve-session-id.ts";
import { counted } from "../counted.ts";
import { jsonOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { table } from "../table.ts";

function sum(files: readonly FileChange[], which: "insertions" | "deletions"): number {
  return files.reduce((total, file) => total + (file[which] ?? 0), 0);
}

function comparedJson({ id, source, files }: ComparedSession) {
  return {
    ...{ id, source },
    ...{ insertions: sum(files, "insertions"), deletions: sum(files, "deletions") },
    files: files.map(({ path, kind, insertions, deletions }) => ({ path, kind, insertions, deletions })),
  };
}

function comparisonJson({ base, sessions, both }: Comparison) {
  return { base, sessions: sessions.map(comparedJson), both };
}

function cell(file: FileChange | undefined): string {
  if (file === undefined) return "";
  const { kind, insertions, deletions } = file;
  return `${kind} ${insertions === null ? "binary" : `+${insertions} -${deletions ?? 0}`}`;
}

function paths(sessions: Comparison["sessions"]): readonly string[] {
  return [...new Set(sessions.flatMap(({ files }) => files.map(({ path }) => path)))].sort();
}

async function linesOf({ base, sessions, both }: Comparison, invocation: Invocation) {
  const { paint } = invocation;
  const found = sessions.map(({ files }) => new Map(files.map((file) => [file.path, file])));
  const shared = new Map(
    both.map(({ path, isSame }) => [path, isSame ? "the same in both" : "not the same"]),
  );
  const rows = paths(sessions).map((path) => [
    printable(path),
    ...found.map((files) => cell(files.get(path))),
    shared.get(path) ?? "",
  ]);
  const header = ["FILE", ...sessions.map(({ id }) => id.toUpperCase()), ""];
  const since = `since turn ${base.turnId} of ${base.sessionId}:`;
  if (rows.length === 0) return [`${since} nothing changed`];
  const totals = sessions.map((one) => {
    const { insertions, deletions } = comparedJson(one);
    return `${one.id}: ${counted(one.files.length, "file")}, +${insertions} -${deletions}`;
  });
  return [since, ...(await table({ header, rows, paint, width: undefined })), ...totals];
}

async function compare(invocation: Invocation, one: string, other: string): Promise<undefined> {
  const ao = await invocation.open("reading");
  const [left, right] = [resolveSessionId(ao.deps, one), resolveSessionId(ao.deps, other)];
  const comparison = await compareSessions(ao.deps, left, right);
  const lines = await linesOf(comparison, invocation);
  await invocation.print(comparisonJson(comparison), () => lines);
  for (const { id, source } of comparison.sessions) {
    if (source === "checkpoint")
      invocation.note(`the worktree of ${id} is gone: its last checkpoint is shown`);
  }
  return undefined;
}

/** `ao compare`. */
export function compareCommand(host: Host): Command {
  return host
    .command({
      usage: "compare <session> <other>",
      purpose: "Show what two sessions changed since their last common turn",
      more: "One comes from the other by ao fork, or both come from a third one. Files that git ignores are left out.",
      examples: [
        ["ao compare app-7 app-9", "the files, with lines added and removed in each"],
        ["ao compare app-8 app-9 --json", "for a script"],
      ],
    })
    .addOption(jsonOption())
    .action(host.action(compare));
}
