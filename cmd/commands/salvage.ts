import type { Command } from "commander";
import type { Ao } from "../../src/compose.ts";
import { parseSessionId, type SessionId } from "../../src/domain/ids.ts";
import { printable } from "../../src/domain/printable.ts";
import type { HeadPosition, SalvageContent } from "../../src/domain/salvage.ts";
import { toSalvageContentJson, toSalvageJson } from "../../src/domain/salvage-json.ts";
import { shellQuoted } from "../../src/domain/shell-quoted.ts";
import { resolveSessionId } from "../../src/lifecycle/resolve-session-id.ts";
import { type FoundSalvage, findSalvage, listSalvages } from "../../src/lifecycle/salvage/find-salvage.ts";
import { putBackSession } from "../../src/lifecycle/salvage/put-back-session.ts";
import { age } from "../age.ts";
import { counted } from "../counted.ts";
import { jsonOption, projectFilter, projectOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { table } from "../table.ts";

interface ListFlags {
  readonly project?: string;
}

/** What a person calls it: `app-7/2`. */
function nameOf({ sessionId, number }: Pick<FoundSalvage, "sessionId" | "number">): string {
  return `${sessionId}/${number}`;
}

function headText(head: HeadPosition): string {
  if (head.kind === "detached") return `detached at ${head.commit.slice(0, 12)}`;
  return `${head.branch} at ${head.commit?.slice(0, 12) ?? "no commit"}`;
}

/** One that has no row any more may have left salvages all the same. */
function sessionOf(deps: Ao["deps"], name: string): SessionId {
  return parseSessionId(name) ?? resolveSessionId(deps, name);
}

async function list(invocation: Invocation, session: string | undefined, flags: ListFlags): Promise<number> {
  const ao = await invocation.open("reading");
  const projectId = await projectFilter(ao, flags.project);
  const sessionId = session === undefined ? null : sessionOf(ao.deps, session);
  const { salvages, errors } = await listSalvages(ao.deps, { projectId, sessionId });
  if (session !== undefined && salvages.length === 0) resolveSessionId(ao.deps, session);
  const nowMs = ao.deps.clock.nowMs();
  await invocation.print({ data: salvages.map(toSalvageJson) }, () =>
    salvages.length === 0
      ? []
      : table({
          header: ["SALVAGE", "WHY", "AGE", "HEAD", "COMMIT"],
          rows: salvages.map((one) => [
            nameOf(one),
            one.reason.replace("_", " "),
            age(one.atMs, nowMs),
            printable(headText(one.head)),
            one.commit.slice(0, 12),
          ]),
          paint: invocation.paint,
          width: invocation.io.stdout.columns,
        }),
  );
  if (salvages.length === 0) invocation.note("nothing is kept");
  for (const { repositoryPath, message } of errors) invocation.warn(`${repositoryPath}: ${message}`);
  return errors.length > 0 ? 1 : 0;
}

function linesOf(content: SalvageContent & FoundSalvage, invocation: Invocation): readonly string[] {
  const { ref, commit, head, files, special, operations, commits, repositoryPath } = content;
  const fields = [
    ["ref", ref],
    ["repository", repositoryPath],
    ["commit", commit],
    ["head", headText(head)],
    ["under way", operations.join(", ") || "nothing"],
    ["commits", commits.join(" ") || "none beside its head's"],
  ] as const;
  return [
    invocation.paint("bold", nameOf(content)),
    ...fields.map(([name, value]) => `  ${invocation.paint("dim", name.padEnd(10))}  ${printable(value)}`),
    ...files.map(({ path, kind, bytes }) => {
      const size = bytes === null ? "" : `  ${counted(bytes, "byte")}`;
      return `  ${invocation.paint("dim", kind.padEnd(10))}  ${printable(path)}${size}`;
    }),
    ...special.map(({ path, kind }) => {
      const fate = kind === "pipe" ? "comes back empty" : "does not come back";
      return `  ${invocation.paint("dim", kind.padEnd(10))}  ${printable(path)}  ${fate}`;
    }),
  ];
}

async function show(invocation: Invocation, name: string): Promise<undefined> {
  const ao = await invocation.open("reading");
  const found = await findSalvage(ao.deps, name);
  const content = await ao.deps.snapshots.show(found.repositoryPath, found.ref);
  await invocation.print(toSalvageContentJson(content), () => linesOf({ ...found, ...content }, invocation));
  return undefined;
}

interface RestoreFlags {
  readonly into?: string;
}

async function restore(invocation: Invocation, name: string, { into }: RestoreFlags): Promise<undefined> {
  invocation.hold();
  const ao = await invocation.open("existing");
  const target = into === undefined ? null : resolveSessionId(ao.deps, into);
  invocation.progress.step("putting work back");
  const result = await putBackSession(ao.deps, name, target);
  for (const warning of result.warnings) invocation.warn(printable(warning));
  await invocation.print(result, () => [
    result.files === 0
      ? `${result.id} has all of it already`
      : `${counted(result.files, "file")} of ${result.id} put back`,
  ]);
  return undefined;
}

async function drop(invocation: Invocation, name: string): Promise<undefined> {
  const ao = await invocation.open("existing");
  const found = await findSalvage(ao.deps, name);
  const { ref, commit, repositoryPath } = found;
  await ao.deps.snapshots.drop(repositoryPath, ref);
  await invocation.print({ ref, commit, dropped: true }, () => [`${nameOf(found)} dropped`]);
  invocation.note(
    `git keeps it for some weeks; to have it back: git -C ${shellQuoted(repositoryPath)} update-ref ${ref} ${commit}`,
  );
  return undefined;
}

/** `ao salvage …`. */
export function salvageCommand(host: Host): Command {
  const salvage = host.command({
    usage: "salvage",
    purpose: "See and use the work that was kept when worktrees were freed",
    more: [
      "A salvage has all that a worktree held: files byte for byte, tracked, untracked and ignored ones that count,",
      "the index, what git had under way, and commits of no branch. It is a commit in the session's repository, at",
      "refs/ao/salvage/<session>/<number>, and never leaves it by a plain push.",
    ].join("\n"),
    examples: [
      ["ao salvage list", "what is kept"],
      ["ao salvage show app-7/2", "what is in one"],
    ],
  });
  for (const build of [listCommand, showCommand, restoreCommand, dropCommand])
    salvage.addCommand(build(host));
  return salvage;
}

function listCommand(host: Host): Command {
  return host
    .command({
      usage: "list [session]",
      purpose: "Show what is kept",
      examples: [
        ["ao salvage list app-7", "of one session"],
        ["ao salvage list --json", "all of it, for a script"],
      ],
    })
    .alias("ls")
    .addOption(projectOption("only this project (default: all)"))
    .addOption(jsonOption())
    .action(host.action(list));
}

function showCommand(host: Host): Command {
  return host
    .command({
      usage: "show <salvage>",
      purpose: "Show what is in a salvage",
      examples: [
        ["ao salvage show app-7/2", "its files, and what had become of each"],
        ["ao salvage show app-7", "the newest of a session"],
      ],
    })
    .addOption(jsonOption())
    .action(host.action(show));
}

function restoreCommand(host: Host): Command {
  return host
    .command({
      usage: "restore <salvage>",
      purpose: "Put a salvage back into the worktree of its session, or of another",
      more: [
        "The worktree has to stand and its session to rest; ao restore brings both back, and puts back itself what was",
        "kept when the worktree was freed. Only what the branch has is written over; when anything else is in the way",
        "nothing is changed, and the exit code is 4. Work of no session any more (ao reconcile --salvage) goes into",
        "a new one, best on the branch it stood on: ao spawn --branch <branch>, then --into that session.",
      ].join("\n"),
      examples: [
        ["ao salvage restore app-7/2", "staged as staged, untracked as untracked"],
        ["ao salvage restore app-7/1 --into app-9 --json", "into another session of the repository"],
      ],
    })
    .option("--into <session>", "the session whose worktree gets it (default: its own)")
    .addOption(jsonOption())
    .action(host.action(restore));
}

function dropCommand(host: Host): Command {
  return host
    .command({
      usage: "drop <salvage>",
      purpose: "Give a salvage up",
      examples: [
        ["ao salvage drop app-7/2", "git deletes it some weeks later"],
        ["ao salvage drop app-7/2 --json", "for a script"],
      ],
    })
    .addOption(jsonOption())
    .action(host.action(drop));
}
