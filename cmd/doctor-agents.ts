import type { Ao } from "../src/compose.ts";
import { isTestedVersion, type TestedVersions } from "../src/domain/tested-versions.ts";
import type { Agent } from "../src/ports/agent.ts";
import type { ToolCheck } from "../src/ports/tool-check.ts";
import type { Check } from "./doctor-check.ts";

function rangeOf({ from, to, on }: TestedVersions): string {
  return `${from === to ? from : `${from} to ${to}`} (${on})`;
}

/** An agent that behaves otherwise than the tested one may lose messages or stand still without a word. */
function checkOf(agent: Agent, check: ToolCheck, isNamed: boolean): Check {
  const name = `agent ${agent.name}`;
  if (check.kind === "missing") {
    // Nobody has all of them: only one that is asked for is missed.
    if (!isNamed)
      return { name, status: "pass", detail: "not installed; nothing here asks for it", fix: null };
    return { name, status: "warn", detail: "not found in PATH", fix: check.hint };
  }
  if (check.kind === "failed") {
    return { name, status: "warn", detail: `did not answer: ${check.cause}`, fix: null };
  }
  if (check.kind === "too_old") {
    return {
      name,
      status: "warn",
      detail: `${check.version} is older than ${check.needed}`,
      fix: check.hint,
    };
  }
  const { version, path } = check;
  const tested = agent.profile?.tested;
  if (tested && isTestedVersion(version, tested) === false) {
    const detail = `${version} (${path}) is none of the versions that ao was tested with: ${rangeOf(tested)}`;
    return { name, status: "warn", detail, fix: `install version ${tested.to}, or watch its first sessions` };
  }
  const note = tested === null ? ", never run with ao by its makers" : "";
  return { name, status: "pass", detail: `${version} (${path})${note}`, fix: null };
}

/** The agents that the configuration names, as far as it can be read. */
async function namedAgents(ao: Pick<Ao, "config">): Promise<ReadonlySet<string>> {
  const named = await ao.config().then(
    ({ agents, declaredAgents }) => [...agents, ...declaredAgents],
    () => [],
  );
  return new Set(named.map(({ name }) => name));
}

/** Whether each agent is there, in a version that `ao` was tested with. */
export async function agentChecks(ao: Pick<Ao, "deps" | "config">, path: string): Promise<readonly Check[]> {
  const named = await namedAgents(ao);
  const agents = [...ao.deps.agents.values()];
  return Promise.all(
    agents.map(async (agent) => checkOf(agent, await agent.check(path), named.has(agent.name))),
  );
}
