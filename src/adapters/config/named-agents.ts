import type { NamedAgent } from "../../ports/config.ts";
import type { KeyPath, YamlFile } from "./read-yaml.ts";

/** A part of a file that can name agents: the defaults, or what is said of one project. */
interface AgentBlock {
  readonly agent?: string | undefined;
  readonly worker?: { readonly agent?: string | undefined } | undefined;
  readonly orchestrator?: { readonly agent?: string | undefined } | undefined;
}

/** The agents that one part of a file names; `at` is where it stands. */
export function namedAgents(
  yaml: YamlFile,
  at: KeyPath,
  block: AgentBlock | undefined,
): readonly NamedAgent[] {
  const found: readonly (readonly [string | undefined, KeyPath])[] = [
    [block?.agent, [...at, "agent"]],
    [block?.worker?.agent, [...at, "worker", "agent"]],
    [block?.orchestrator?.agent, [...at, "orchestrator", "agent"]],
  ];
  return found.flatMap(([name, key]) =>
    name === undefined ? [] : [{ name, key: key.join("."), line: yaml.lineOf(key) }],
  );
}
