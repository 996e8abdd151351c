import { resolve } from "node:path";
import { AoError, errorMessage } from "../../domain/errors.ts";
import { type IgnoredRule, NO_IGNORED_RULE } from "../../domain/ignored-rule.ts";
import type { SessionKind } from "../../domain/session.ts";
import type { SessionSettings, Sourced } from "../../ports/config.ts";
import { readUtf8 } from "./read-utf8.ts";
import type { KeyPath } from "./read-yaml.ts";
import type { ProjectBlock, SharedFile } from "./schema.ts";

export interface SettingsSource {
  readonly defaults: SharedFile["defaults"];
  /** What the file says of the project, `{}` when nothing. */
  readonly block: ProjectBlock;
  /** Where `block` stands in the file. */
  readonly blockKey: KeyPath;
  /** `<file>:<line>` of a key. */
  readonly originOf: (key: KeyPath) => string;
  /** Folder that `agentRulesFile` starts from. */
  readonly directory: string;
}

const DEFAULT_POST_CREATE_TIMEOUT_MS = 10 * 60_000;
const DEFAULT_AGENT = "embedded";

type Candidate<Value> = readonly [value: Value | undefined, key: KeyPath];

function firstOf<Value>(
  source: SettingsSource,
  candidates: readonly Candidate<Value>[],
  fallback: Value,
): Sourced<Value> {
  for (const [value, key] of candidates) {
    if (value !== undefined) return { value, origin: source.originOf(key) };
  }
  return { value: fallback, origin: "default" };
}

function agentOf(source: SettingsSource, kind: SessionKind): Sourced<string> {
  const { block, blockKey, defaults } = source;
  const candidates: readonly Candidate<string>[] = [
    [block[kind]?.agent, [...blockKey, kind, "agent"]],
    [block.agent, [...blockKey, "agent"]],
    [defaults?.[kind]?.agent, ["defaults", kind, "agent"]],
    [defaults?.agent, ["defaults", "agent"]],
  ];
  return firstOf(source, candidates, DEFAULT_AGENT);
}

function readRules(source: SettingsSource, file: string): string {
  try {
    return readUtf8(resolve(source.directory, file));
  } catch (cause) {
    const place = source.originOf([...source.blockKey, "agentRulesFile"]);
    throw new AoError("config_invalid", `${place}: agentRulesFile cannot be read: ${errorMessage(cause)}`, {
      cause,
      hint: "the path starts at the repository's folder",
    });
  }
}

function rulesOf(source: SettingsSource, kind: SessionKind): Sourced<string | null> {
  const { block, blockKey } = source;
  if (kind === "orchestrator") {
    return firstOf<string | null>(
      source,
      [[block.orchestratorRules, [...blockKey, "orchestratorRules"]]],
      null,
    );
  }
  const fromFile = block.agentRulesFile === undefined ? undefined : readRules(source, block.agentRulesFile);
  const parts = [block.agentRules, fromFile].filter((part) => part !== undefined);
  const key = block.agentRules === undefined ? "agentRulesFile" : "agentRules";
  const joined = parts.length === 0 ? undefined : parts.map((part) => part.trimEnd()).join("\n\n");
  return firstOf<string | null>(source, [[joined, [...blockKey, key]]], null);
}

/** What the project says of ignored files; `undefined` when nothing. */
export function ignoredOf({ ignored }: ProjectBlock): IgnoredRule | undefined {
  return ignored && { reproducible: ignored.reproducible ?? [], work: ignored.work ?? [] };
}

/**
 * What new sessions of one kind get: the kind's own word, then the project's, then the file's defaults.
 *
 * @throws AoError config_invalid when the rules file cannot be read.
 */
export async function sessionSettings(source: SettingsSource, kind: SessionKind): Promise<SessionSettings> {
  const { block, blockKey } = source;
  const own = block[kind]?.agentConfig;
  const inBlock = <Value>(value: Value | undefined, key: string, fallback: Value): Sourced<Value> =>
    firstOf(source, [[value, [...blockKey, key]]], fallback);
  const inAgentConfig = <Value>(
    key: "model" | "permissions",
    values: readonly [Value | undefined, Value | undefined],
    fallback: Value,
  ) =>
    firstOf(
      source,
      [
        [values[0], [...blockKey, kind, "agentConfig", key]],
        [values[1], [...blockKey, "agentConfig", key]],
      ],
      fallback,
    );
  return {
    agent: agentOf(source, kind),
    model: inAgentConfig<string | null>("model", [own?.model, block.agentConfig?.model], null),
    permissions: inAgentConfig("permissions", [own?.permissions, block.agentConfig?.permissions], "default"),
    rules: rulesOf(source, kind),
    defaultBranch: inBlock<string | null>(block.defaultBranch, "defaultBranch", null),
    symlinks: inBlock<readonly string[]>(block.symlinks, "symlinks", []),
    copy: inBlock<readonly string[]>(block.copy, "copy", []),
    postCreate: inBlock<readonly string[]>(block.postCreate, "postCreate", []),
    postCreateTimeoutMs: inBlock(
      block.postCreateTimeout,
      "postCreateTimeout",
      DEFAULT_POST_CREATE_TIMEOUT_MS,
    ),
    env: inBlock<Readonly<Record<string, string>>>(block.env, "env", {}),
    ignored: inBlock(ignoredOf(block), "ignored", NO_IGNORED_RULE),
    pool: inBlock(block.pool, "pool", 0),
  };
}
