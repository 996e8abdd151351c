import { resolve } from "node:path";
import type { Command } from "commander";
import type { Ao } from "../../src/compose.ts";
import { loadConfigSchema } from "../../src/compose.ts";
import { printable } from "../../src/domain/printable.ts";
import type { Project } from "../../src/domain/project.ts";
import { SESSION_KINDS } from "../../src/domain/session.ts";
import { resolveProject } from "../../src/lifecycle/projects/projects.ts";
import type { Config, Sourced } from "../../src/ports/config.ts";
import { refuseUnknownAgents } from "../agent-problems.ts";
import { jsonOption, projectOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { table } from "../table.ts";

interface Row {
  readonly key: string;
  readonly value: unknown;
  readonly origin: string;
}

/** Settings that differ by the kind of session; all others are listed once. */
const BY_KIND: ReadonlySet<string> = new Set(["agent", "model", "permissions", "rules"]);

async function rowsOf(config: Config, project: Project | null): Promise<readonly Row[]> {
  const perKind = await Promise.all(
    SESSION_KINDS.map(async (kind, index) => {
      const settings: readonly [string, Sourced<unknown>][] = Object.entries(
        await config.settingsFor(project, kind),
      );
      return settings.flatMap(([name, { value, origin }]) => {
        if (BY_KIND.has(name)) return [{ key: `${kind}.${name}`, value, origin }];
        return index === 0 ? [{ key: name, value, origin }] : [];
      });
    }),
  );
  return perKind.flat();
}

function textOf(value: unknown): string {
  if (typeof value === "string") return printable(value);
  return value === null ? "-" : printable(JSON.stringify(value));
}

async function projectHere(ao: Ao, config: Config, flag: string | undefined): Promise<Project | null> {
  const where = { flag: flag ?? null, cwd: ao.cwd, config: config.projects } as const;
  return (await resolveProject(ao.deps, where))?.project ?? null;
}

async function show(invocation: Invocation, flags: { readonly project?: string }): Promise<undefined> {
  const ao = await invocation.open("reading");
  const config = await ao.config();
  const project = await projectHere(ao, config, flags.project);
  const values: readonly Row[] = [
    { key: "dataDir", value: ao.dataDirectory.path, origin: ao.dataDirectory.origin },
    ...(await rowsOf(config, project)),
  ];
  const projects = config.projects.map(({ id, path, prefix }) => ({ id, path, prefix }));
  await invocation.print(
    { path: config.path, projectId: project?.id ?? null, values, projects },
    async () => [
      `file     ${config.path ?? "none"}`,
      `project  ${project?.id ?? "none"}`,
      "",
      ...(await table({
        header: ["KEY", "VALUE", "FROM"],
        rows: values.map(({ key, value, origin }) => [key, textOf(value), origin]),
        paint: invocation.paint,
        width: undefined,
      })),
    ],
  );
  return undefined;
}

async function path(invocation: Invocation): Promise<undefined> {
  const ao = await invocation.open("tools");
  const file = ao.configPath();
  await invocation.print({ path: file }, () => (file === null ? [] : [file]));
  if (file === null) invocation.note("there is no configuration file; every setting has its default");
  return undefined;
}

async function validate(invocation: Invocation, file: string | undefined): Promise<undefined> {
  const chosen = file === undefined ? {} : { configPath: resolve(invocation.io.cwd, file) };
  const ao = await invocation.open("tools", chosen);
  const checked = await ao.config();
  refuseUnknownAgents(checked, ao.deps.agents);
  const { path: used, warnings } = checked;
  await invocation.print({ path: used, valid: true, warnings }, () =>
    used === null ? [] : [`${used} is valid`],
  );
  if (used === null) invocation.note("there is no configuration file; every setting has its default");
  return undefined;
}

async function schema(invocation: Invocation): Promise<undefined> {
  const text = JSON.stringify(await loadConfigSchema(), null, 2);
  invocation.io.stdout.write(`${text}\n`);
  return undefined;
}

function readCommands(host: Host): readonly Command[] {
  return [
    host
      .command({
        usage: "show",
        purpose: "Show the settings in effect here and where each comes from",
        examples: [
          ["ao config show", "for the project here"],
          ["ao config show -p app --json", "for one project, for a script"],
        ],
      })
      .addOption(projectOption("project to show the settings of (default: the one here)"))
      .addOption(jsonOption())
      .action(host.action(show)),
    host
      .command({
        usage: "path",
        purpose: "Show which configuration file is used",
        more: [
          "Looked for, in this order: --config, AO_CONFIG_PATH, then ao.yaml or agent-orchestrator.yaml in the",
          "working directory and the folders above it, then $XDG_CONFIG_HOME/ao/config.yaml.",
        ].join("\n"),
        examples: [
          ["ao config path", "the file, or nothing"],
          ["ao config path --json", "for a script"],
        ],
      })
      .addOption(jsonOption())
      .action(host.action(path)),
  ];
}

/** `ao config …`. */
export function configCommand(host: Host): Command {
  const config = host.command({
    usage: "config",
    purpose: "Show, find and check the configuration",
    examples: [
      ["ao config validate", "check the file that is used here"],
      ["ao config schema > ao.schema.json", "for an editor that completes keys"],
    ],
  });
  for (const command of readCommands(host)) config.addCommand(command);
  config.addCommand(
    host
      .command({
        usage: "validate [file]",
        purpose: "Check a configuration file; exit 2 with file, line and allowed values when it is bad",
        examples: [
          ["ao config validate", "the file that is used here"],
          ["ao config validate ./ao.yaml --json", "another one, for a script"],
        ],
      })
      .addOption(jsonOption())
      .action(host.action(validate)),
  );
  config.addCommand(
    host
      .command({
        usage: "schema",
        purpose: "Print the JSON Schema of the configuration file",
        examples: [
          ["ao config schema", "all keys and their values"],
          ["ao config schema > ao.schema.json", "then `# yaml-language-server: $schema=ao.schema.json`"],
        ],
      })
      .addOption(jsonOption())
      .action(host.action(schema)),
  );
  return config;
}
