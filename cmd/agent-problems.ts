import { AoError } from "../src/domain/errors.ts";
import type { Agent } from "../src/ports/agent.ts";
import type { Config } from "../src/ports/config.ts";

/**
 * Refuses a configuration that names an agent nobody knows, in the form of any other bad value.
 *
 * @throws AoError config_invalid with `details.problems`
 */
export function refuseUnknownAgents(config: Config, agents: ReadonlyMap<string, Agent>): void {
  const known = [...agents.keys()].sort().join(", ");
  const unknown = config.agents.filter(({ name }) => !agents.has(name));
  const problems = unknown.map(({ name, key, line }) => {
    return { line, key, message: `must be one of ${known}, is ${JSON.stringify(name)}` };
  });
  const [first] = problems;
  if (first === undefined) return;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  throw new AoError("config_invalid", `${config.path}:${first.line}: ${first.key} ${first.message}${more}`, {
    hint: "see what each can do: ao agents",
    details: { path: config.path, problems },
  });
}
