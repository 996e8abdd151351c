import { parseLaunchId, parseProjectId, parseSessionId } from "../../../../src/domain/ids.ts";
import type { LaunchRequest } from "../../../../src/ports/agent.ts";

function parsed<Id>(id: Id | undefined): Id {
  if (id === undefined) throw new Error("bad id in a test");
  return id;
}

/** A request to launch `app-7` without a prompt and without arguments. */
export function aLaunchRequest(over: Partial<LaunchRequest> = {}): LaunchRequest {
  return {
    sessionId: parsed(parseSessionId("app-7")),
    projectId: parsed(parseProjectId("app")),
    launchId: parsed(parseLaunchId("l-1")),
    workspacePath: "/data/worktrees/app/app-7",
    dataDir: "/data",
    launchDir: "/data/launch/app-7",
    promptFile: null,
    agentSessionId: null,
    model: null,
    permissions: "default",
    extraArgs: [],
    ...over,
  };
}
