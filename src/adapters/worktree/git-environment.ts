/**
 * Variables that would point git at another repository, index or reading of arguments than the one named:
 * `git rev-parse --local-env-vars` (2.39.5) and those that change discovery, pathspecs or messages.
 */
const FOREIGN = new Set([
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_ATTR_SOURCE",
  "GIT_CEILING_DIRECTORIES",
  "GIT_COMMON_DIR",
  "GIT_CONFIG",
  "GIT_CONFIG_COUNT",
  "GIT_CONFIG_PARAMETERS",
  "GIT_DIR",
  "GIT_DISCOVERY_ACROSS_FILESYSTEM",
  "GIT_GLOB_PATHSPECS",
  "GIT_GRAFT_FILE",
  "GIT_ICASE_PATHSPECS",
  "GIT_IMPLICIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_INTERNAL_SUPER_PREFIX",
  "GIT_LITERAL_PATHSPECS",
  "GIT_NAMESPACE",
  "GIT_NOGLOB_PATHSPECS",
  "GIT_NO_REPLACE_OBJECTS",
  "GIT_OBJECT_DIRECTORY",
  "GIT_PREFIX",
  "GIT_QUARANTINE_PATH",
  "GIT_REPLACE_REF_BASE",
  "GIT_SHALLOW_FILE",
  "GIT_WORK_TREE",
  "LANGUAGE",
]);

const isForeign = (name: string): boolean => FOREIGN.has(name) || name.startsWith("GIT_TRACE");

/** `env` without what would lead git astray. A new record; `env` is not changed. */
export function withoutGitLocation(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !isForeign(name)) kept[name] = value;
  }
  return kept;
}

/** The environment of every git call: no prompt, English messages, no foreign location. */
export function gitEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return { ...withoutGitLocation(env), LC_ALL: "C.UTF-8", GIT_TERMINAL_PROMPT: "0" };
}
