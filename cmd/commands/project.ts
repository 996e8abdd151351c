import { resolve } from "node:path";
import type { Command } from "commander";
import type { Ao } from "../../src/compose.ts";
import { AoError } from "../../src/domain/errors.ts";
import { parseProjectId } from "../../src/domain/ids.ts";
import { isoTime } from "../../src/domain/iso-time.ts";
import { printable } from "../../src/domain/printable.ts";
import type { Project } from "../../src/domain/project.ts";
import { addProject, isGone, listProjects, removeProject } from "../../src/lifecycle/projects/projects.ts";
import { jsonOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { table } from "../table.ts";

interface AddFlags {
  readonly id?: string;
  readonly name?: string;
  readonly prefix?: string;
  readonly defaultBranch?: string;
}

interface Seen {
  readonly project: Project;
  readonly repositoryExists: boolean;
}

async function seen(ao: Ao, project: Project): Promise<Seen> {
  return { project, repositoryExists: !(await isGone(ao.deps, project)) };
}

function projectJson({ project, repositoryExists }: Seen) {
  const { id, name, repositoryPath, prefix, defaultBranch, createdAtMs } = project;
  const createdAt = isoTime(createdAtMs);
  return { id, name, repositoryPath, prefix, defaultBranch, createdAt, repositoryExists };
}

function repositoryText({ project, repositoryExists }: Seen): string {
  return repositoryExists ? project.repositoryPath : `${project.repositoryPath} (gone)`;
}

function linesOf(shown: Seen, invocation: Invocation): readonly string[] {
  const { project } = shown;
  const fields = [
    ["name", project.name],
    ["repository", repositoryText(shown)],
    ["prefix", project.prefix],
    ["default branch", project.defaultBranch ?? "as git says"],
  ] as const;
  return [
    invocation.paint("bold", project.id),
    ...fields.map(([name, value]) => `  ${invocation.paint("dim", name.padEnd(14))}  ${printable(value)}`),
  ];
}

async function add(invocation: Invocation, path: string, flags: AddFlags): Promise<undefined> {
  const request = {
    path: resolve(invocation.io.cwd, path),
    id: flags.id ?? null,
    name: flags.name ?? null,
    prefix: flags.prefix ?? null,
    defaultBranch: flags.defaultBranch ?? null,
  };
  const ao = await invocation.open("existing");
  const tried = await addProject(ao.deps, request);
  // A store that is not there yet forgets it; it is made only for what can be expected to be taken.
  const project = ao.isNew ? await addProject((await invocation.open("create")).deps, request) : tried;
  const added = await seen(ao, project);
  await invocation.print(projectJson(added), () => linesOf(added, invocation));
  return undefined;
}

async function list(invocation: Invocation): Promise<undefined> {
  const ao = await invocation.open("reading");
  const projects = await Promise.all(listProjects(ao.deps).map((project) => seen(ao, project)));
  await invocation.print({ data: projects.map(projectJson) }, () =>
    projects.length === 0
      ? []
      : table({
          header: ["ID", "PREFIX", "NAME", "REPOSITORY"],
          rows: projects.map((shown) => {
            const { id, prefix, name } = shown.project;
            return [id, prefix, printable(name), printable(repositoryText(shown))];
          }),
          paint: invocation.paint,
          width: undefined,
        }),
  );
  if (projects.length === 0) invocation.note("no projects yet; ao spawn registers the repository it runs in");
  return undefined;
}

async function show(invocation: Invocation, name: string): Promise<undefined> {
  const ao = await invocation.open("reading");
  const id = parseProjectId(name);
  const project = id && ao.deps.store.project(id);
  if (!project) {
    throw new AoError("project_not_found", `no project ${JSON.stringify(name)}`, { hint: "ao project list" });
  }
  const shown = await seen(ao, project);
  await invocation.print(projectJson(shown), () => linesOf(shown, invocation));
  return undefined;
}

async function remove(invocation: Invocation, name: string): Promise<undefined> {
  const ao = await invocation.open("existing");
  const removed = await seen(ao, await removeProject(ao.deps, name));
  await invocation.print(projectJson(removed), () => [`${removed.project.id} is no longer registered`]);
  return undefined;
}

function addCommand(host: Host): Command {
  return host
    .command({
      usage: "add",
      purpose: "Register a repository",
      examples: [
        ["ao project add", "the repository here"],
        ["ao project add ~/src/app --id app --prefix app", "with a name of its own"],
      ],
    })
    .argument("[path]", "a folder in the repository", ".")
    .option("--id <id>", "id of the project (default: from the folder's name)")
    .option("--name <text>", "name for people (default: the folder's name)")
    .option("--prefix <prefix>", "prefix of its session ids (default: from the folder's name)")
    .option("--default-branch <name>", "branch new work starts from (default: as git says, each time)")
    .addOption(jsonOption())
    .action(host.action(add));
}

/** `ao project …`. */
export function projectCommand(host: Host): Command {
  const project = host.command({
    usage: "project",
    purpose: "Register, show and forget repositories",
    examples: [
      ["ao project add ~/src/app", "register a repository"],
      ["ao project list --json", "all of them, for a script"],
    ],
  });
  project.addCommand(addCommand(host));
  project.addCommand(
    host
      .command({
        usage: "list",
        purpose: "Show all registered repositories",
        examples: [
          ["ao project list", "ids, prefixes and paths"],
          ["ao project list --json", "for a script"],
        ],
      })
      .alias("ls")
      .addOption(jsonOption())
      .action(host.action(list)),
  );
  project.addCommand(
    host
      .command({
        usage: "show <project>",
        purpose: "Show one registered repository",
        examples: [
          ["ao project show app", "its path, prefix and default branch"],
          ["ao project show app --json", "for a script"],
        ],
      })
      .addOption(jsonOption())
      .action(host.action(show)),
  );
  project.addCommand(
    host
      .command({
        usage: "remove <project>",
        purpose: "Forget a repository; the repository and the record of its sessions stay",
        examples: [
          ["ao project remove app", "refused while a session of it lives"],
          ["ao project rm app --json", "for a script"],
        ],
      })
      .aliases(["rm", "delete"])
      .addOption(jsonOption())
      .action(host.action(remove)),
  );
  return project;
}
