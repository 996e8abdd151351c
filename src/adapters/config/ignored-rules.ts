import { existsSync } from "node:fs";
import { parseProjectId, parseSessionId } from "../../domain/ids.ts";
import type { IgnoredRule } from "../../domain/ignored-rule.ts";
import type { Project } from "../../domain/project.ts";
import type { SessionStore } from "../../ports/session-store.ts";
import type { ConfigLookup } from "./find-config-file.ts";
import { loadConfig } from "./load-config.ts";
import type { LoadConfigOptions } from "./read-config.ts";

/** Whose ignored files are asked about: a worktree knows no more of itself. */
export interface RuleOwner {
  readonly sessionId: string;
  readonly projectId: string;
  readonly repositoryPath: string | null;
}

export interface IgnoredRulesOptions extends Pick<LoadConfigOptions, "repositoryOf"> {
  readonly store: Pick<SessionStore, "get" | "project">;
  /** As for every command; whoever asks stands in the project's repository, wherever the caller does. */
  readonly lookup: Omit<ConfigLookup, "recordedPath">;
}

/**
 * What a project's configuration says of ignored files now: the one its session was made with while it is
 * there, else the one that would be found in the repository.
 *
 * @throws AoError config_invalid when it cannot be read; store_corrupt, store_busy as the store.
 */
export async function ignoredRuleOf(options: IgnoredRulesOptions, owner: RuleOwner): Promise<IgnoredRule> {
  const { store, repositoryOf } = options;
  const sessionId = parseSessionId(owner.sessionId);
  const metadata = sessionId === undefined ? undefined : store.get(sessionId)?.metadata;
  const repositoryPath = metadata?.repositoryPath ?? owner.repositoryPath;
  const lookup = lookupFor(options.lookup, metadata?.configPath ?? undefined);
  const config = await loadConfig({ ...lookup, cwd: repositoryPath ?? lookup.cwd, repositoryOf });
  return config.ignoredFor(projectOf(store, { ...owner, repositoryPath }));
}

/** The caller's own `AO_CONFIG_PATH` may be that of another session. */
function lookupFor(lookup: IgnoredRulesOptions["lookup"], recordedPath: string | undefined): ConfigLookup {
  if (recordedPath === undefined || !existsSync(recordedPath)) return { ...lookup, recordedPath };
  const { AO_CONFIG_PATH: _callers, ...env } = lookup.env;
  return { ...lookup, env, recordedPath };
}

/** A project that nobody registered is still known by its repository. */
function projectOf(
  store: IgnoredRulesOptions["store"],
  { projectId, repositoryPath }: RuleOwner,
): Project | null {
  const id = parseProjectId(projectId);
  if (id === undefined) return null;
  const known = store.project(id);
  if (known !== undefined || repositoryPath === null) return known ?? null;
  return { id, name: id, repositoryPath, prefix: "", defaultBranch: null, createdAtMs: 0 };
}
