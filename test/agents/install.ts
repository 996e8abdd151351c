import { installAgents } from "./agent-programs.ts";

/** Once before all suites (vitest, globalSetup). */
export function setup(): void {
  installAgents();
}
