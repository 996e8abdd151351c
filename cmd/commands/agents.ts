import type { Command } from "commander";
import type { Ao } from "../../src/compose.ts";
import { isAoError } from "../../src/domain/errors.ts";
import { isTestedVersion } from "../../src/domain/tested-versions.ts";
import { resolveProject } from "../../src/lifecycle/projects/projects.ts";
import type { Agent } from "../../src/ports/agent.ts";
import type { AgentProfile } from "../../src/ports/agent-profile.ts";
import type { ToolCheck } from "../../src/ports/tool-check.ts";
import { jsonOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { type Cell, table } from "../table.ts";

interface AgentRow {
  readonly name: string;
  readonly installed: boolean;
  readonly version: string | null;
  readonly path: string | null;
  readonly capabilities: Agent["capabilities"];
  readonly default: boolean;
  /** What is known of its program, with the versions that it was tested with; `null` when nothing is. */
  readonly profile: AgentProfile | null;
  /** Whether the installed version is one of those; `null` when that cannot be said. */
  readonly isTested: boolean | null;
}

function testOf({ profile }: Agent, version: string): boolean | undefined {
  return profile?.tested ? isTestedVersion(version, profile.tested) : undefined;
}

function rowOf(agent: Agent, check: ToolCheck, defaultAgent: string): AgentRow {
  const ok = check.kind === "ok";
  return {
    name: agent.name,
    installed: ok,
    version: ok ? check.version : null,
    path: ok ? check.path : null,
    capabilities: agent.capabilities,
    default: agent.name === defaultAgent,
    profile: agent.profile ?? null,
    isTested: ok ? (testOf(agent, check.version) ?? null) : null,
  };
}

/** The agent that `ao spawn` would run here. */
async function defaultAgentOf(ao: Ao): Promise<string> {
  const config = await ao.config();
  const where = { flag: null, cwd: ao.cwd, config: config.projects } as const;
  const found = await resolveProject(ao.deps, where).catch((error: unknown) => {
    // Without git there is no project here, and that is no matter of this command.
    if (isAoError(error, "git_unavailable")) return undefined;
    throw error;
  });
  const settings = await config.settingsFor(found?.project ?? null, "worker");
  return settings.agent.value;
}

function canDo({ capabilities }: AgentRow): string {
  const { resume, fork, hooks, receipts } = capabilities;
  return [resume && "resume", fork !== "none" && `fork (${fork})`, hooks && "hooks", receipts && "receipts"]
    .filter(Boolean)
    .join(", ");
}

/** What it was run with, and when. */
function verified({ profile }: AgentRow): Cell {
  const tested = profile?.tested;
  if (!tested) return { text: "not run here", color: "dim" };
  const range = tested.from === tested.to ? tested.from : `${tested.from} to ${tested.to}`;
  return `${range}, ${tested.on}`;
}

function installed({ installed: isThere, version, isTested }: AgentRow): Cell {
  if (!isThere) return { text: "no", color: "dim" };
  const text = version ?? "yes";
  return isTested === false ? { text: `${text} (untested)`, color: "yellow" } : text;
}

async function agents(invocation: Invocation): Promise<undefined> {
  const ao = await invocation.open("reading");
  const path = invocation.io.env["PATH"] ?? "";
  const defaultAgent = await defaultAgentOf(ao);
  const known = [...ao.deps.agents.values()];
  const rows = await Promise.all(
    known.map(async (agent) => rowOf(agent, await agent.check(path), defaultAgent)),
  );
  await invocation.print({ data: rows }, () =>
    table({
      header: ["AGENT", "INSTALLED", "DEFAULT", "CAN", "VERIFIED"],
      rows: rows.map((row) => [
        row.name,
        installed(row),
        row.default ? { text: "default", color: "green" } : "",
        canDo(row),
        verified(row),
      ]),
      paint: invocation.paint,
      width: invocation.io.stdout.columns,
    }),
  );
  return undefined;
}

/** `ao agents`. */
export function agentsCommand(host: Host): Command {
  return host
    .command({
      usage: "agents",
      purpose: "Show the agents ao knows, whether they are installed, and what each can do",
      examples: [
        ["ao agents", "which one a spawn here would run, and what it can do"],
        ["ao agents --json | jq -r '.data[] | select(.installed).name'", "the installed ones"],
      ],
    })
    .addOption(jsonOption())
    .action(host.action(agents));
}
