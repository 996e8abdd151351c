import { type GitResult, outputOf } from "./git-failure.ts";
import type { Git, GitLocation } from "./run-git.ts";

/** What of the configuration decides whether a checkout gives back what is there (git-config(1)). */
export interface CheckoutSettings {
  /** Line ends are converted where no attribute says otherwise. */
  readonly autocrlf: boolean;
  /** git looks at whether a file may be executed. */
  readonly fileMode: boolean;
  /** As it is written; `undefined` for the usual one. */
  readonly attributesFile: string | undefined;
}

const NAMES = ["core.autocrlf", "core.filemode", "core.attributesfile"];

/** A git with these says beside its answer what its configuration has (api-trace2; since 2.22). */
const TRACE = {
  GIT_TRACE2_EVENT: "2",
  GIT_TRACE2_EVENT_NESTING: "1",
  GIT_TRACE2_CONFIG_PARAMS: NAMES.join(),
};

export interface ToldSettings {
  readonly result: GitResult;
  readonly settings: CheckoutSettings;
}

/**
 * Asks git something that starts no other program, and what its settings are in the same run: a run of its own takes
 * longer than all the rest of looking at a small worktree.
 *
 * @throws AoError git_failed, git_unavailable
 */
export async function askWithSettings(
  git: Git,
  where: GitLocation,
  args: readonly string[],
): Promise<ToldSettings> {
  // A setting that is written without a value ends git up to 2.46 when it is to be told.
  const traced = await git
    .withEnv(TRACE)
    .read(where, args)
    .catch(() => undefined);
  const told = traced && toldIn(traced);
  if (told !== undefined) return told;
  const [result, config] = [
    await git.read(where, args),
    await git.read(where, ["config", "-z", "--get-regexp", `^(${NAMES.join("|").replaceAll(".", "\\.")})$`]),
  ];
  const listed = config.exitCode === 1 ? "" : outputOf(config, "read its settings");
  return { result, settings: settingsOf(new Map(listed.split("\0").map(splitSetting))) };
}

const isEvent = (line: string): boolean => line.startsWith('{"event":');

/** `undefined` when git said nothing of itself. */
function toldIn({ stderr, ...result }: GitResult): ToldSettings | undefined {
  const lines = stderr.split("\n");
  const events = lines.filter(isEvent).map(parseEvent);
  if (!events.some((event) => event["event"] === "cmd_name")) return undefined;
  const told = events.filter((event) => event["event"] === "def_param");
  const values = new Map(told.map(({ param, value }) => [String(param).toLowerCase(), String(value)]));
  const rest = lines.filter((line) => !isEvent(line)).join("\n");
  return { result: { ...result, stderr: rest }, settings: settingsOf(values) };
}

function parseEvent(line: string): { readonly [name: string]: unknown } {
  try {
    return JSON.parse(line) as { readonly [name: string]: unknown };
  } catch {
    return {};
  }
}

const FALSE = /^(false|no|off|0+|)$/i;

function settingsOf(values: ReadonlyMap<string, string>): CheckoutSettings {
  return {
    autocrlf: !FALSE.test(values.get("core.autocrlf") ?? "false"),
    fileMode: !FALSE.test(values.get("core.filemode") ?? "true"),
    attributesFile: values.get("core.attributesfile"),
  };
}

/** With `-z` a name and its value are parted by a line feed; without one it stands for true (git-config(1)). */
function splitSetting(entry: string): readonly [string, string] {
  const at = entry.indexOf("\n");
  return at < 0 ? [entry, "true"] : [entry.slice(0, at), entry.slice(at + 1)];
}
