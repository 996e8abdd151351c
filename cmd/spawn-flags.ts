import { type Command, Option } from "commander";
import type { Ao } from "../src/compose.ts";
import { AoError } from "../src/domain/errors.ts";
import { PERMISSION_MODES, type PermissionMode } from "../src/domain/session.ts";
import { parsePrompt } from "../src/domain/user-text.ts";
import {
  checkPlanned,
  planSpawn,
  type SpawnInput,
  type SpawnPlace,
  type SpawnPlan,
} from "../src/lifecycle/configured-sessions.ts";
import { projectOption } from "./flags.ts";
import type { Invocation } from "./invocation.ts";
import { readText } from "./read-text.ts";

/** Flags that `spawn` and `batch-spawn` share. */
export interface SpawnFlags {
  readonly project?: string;
  readonly agent?: string;
  readonly base?: string;
  readonly prompt?: string;
  readonly promptFile?: string;
  readonly model?: string;
  readonly permissions?: PermissionMode;
}

/** Adds the flags that `spawn` and `batch-spawn` share. */
export function addSpawnFlags(command: Command): Command {
  return command
    .addOption(projectOption("project to work in (default: AO_PROJECT_ID, else the repository here)"))
    .option("--agent <name>", "agent to run (default: configured, else embedded; see ao agents)")
    .option("--base <ref>", "where a new branch starts (default: the default branch)")
    .option("--prompt <text>", "what the agent is to do")
    .option("--prompt-file <path>", "read the prompt from a file, `-` for standard input")
    .option("--model <name>", "model of the agent (default: configured, else the agent's own)")
    .addOption(
      new Option(
        "--permissions <mode>",
        "what the agent may do without asking (default: configured, else default)",
      ).choices([...PERMISSION_MODES]),
    );
}

async function promptOf(invocation: Invocation, flags: SpawnFlags): Promise<string | null> {
  if (flags.prompt !== undefined && flags.promptFile !== undefined) {
    throw new AoError("usage", "--prompt and --prompt-file exclude each other", {
      hint: "leave --prompt out",
    });
  }
  if (flags.promptFile === undefined) return flags.prompt === undefined ? null : parsePrompt(flags.prompt);
  return parsePrompt(await readText(invocation.io, flags.promptFile, "--prompt-file"));
}

/** Opened for a spawn, with its project and settings. */
interface Prepared {
  readonly ao: Ao;
  readonly plan: SpawnPlan;
}

/**
 * Opens `ao` for a spawn. The very first one makes the data directory only when it can be expected to
 * succeed: what can be found out before, is.
 */
export async function prepareSpawn(
  invocation: Invocation,
  place: SpawnPlace,
  input: SpawnInput,
): Promise<Prepared> {
  const ao = await invocation.open("existing");
  const plan = await planSpawn(ao, place);
  if (!ao.isNew) return { ao, plan };
  await checkPlanned(ao, plan, input);
  const created = await invocation.open("create");
  // The agents that it declares are part of what is opened.
  await created.config();
  return { ao: created, plan };
}

/** The part of a spawn that the shared flags say. */
export async function spawnInput(
  invocation: Invocation,
  flags: SpawnFlags,
): Promise<Omit<SpawnInput, "issueId" | "title" | "branch">> {
  return {
    agentArgs: invocation.agentArgs,
    prompt: await promptOf(invocation, flags),
    baseRef: flags.base ?? null,
    model: flags.model ?? null,
    permissions: flags.permissions ?? null,
    onStep: invocation.progress.step,
  };
}
