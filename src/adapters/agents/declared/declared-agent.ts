import { access } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { ScreenPatterns } from "../../../domain/activity-from-screen.ts";
import { AoError } from "../../../domain/errors.ts";
import { PERMISSION_MODES } from "../../../domain/session.ts";
import type { Agent, AgentCapabilities, LaunchPlan, LaunchRequest } from "../../../ports/agent.ts";
import type { AgentDeclaration } from "../../../ports/agent-declaration.ts";
import type { AgentProfile } from "../../../ports/agent-profile.ts";
import { checkInstalled } from "../installed-program.ts";
import { interpretDeclared } from "./interpret.ts";

/** How long a death still counts as a failed start, in milliseconds. */
const SETTLE_MS = 300;
/** What may name a conversation in a file name. */
const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

type Environment = Readonly<Record<string, string | undefined>>;

function filled(templates: readonly string[], request: LaunchRequest): readonly string[] {
  const values: Readonly<Record<string, string>> = {
    "{model}": request.model ?? "",
    "{promptFile}": request.promptFile ?? "",
    "{sessionId}": request.agentSessionId ?? "",
    "{workspace}": request.workspacePath,
  };
  return templates.map((template) => template.replace(/\{[A-Za-z]+\}/g, (name) => values[name] ?? name));
}

function plan(declaration: AgentDeclaration, request: LaunchRequest, start: readonly string[]): LaunchPlan {
  const { promptFile, model, permissions, extraArgs } = request;
  const { prompt, promptArgs, modelArgs, permissions: modes, env } = declaration;
  const templates = [
    ...start,
    ...(modes[permissions] ?? []),
    ...(model === null ? [] : modelArgs),
    ...(promptFile === null ? [] : promptArgs),
  ];
  const isInput = prompt === "stdin" && promptFile !== null;
  const argv = [...filled(templates, request), ...extraArgs];
  return { argv, env, files: [], settleMs: SETTLE_MS, ...(isInput && { stdinPath: promptFile }) };
}

function pins({ sessionIdArgs, resume, conversationFile }: AgentDeclaration): boolean {
  return sessionIdArgs.length > 0 && resume.length > 0 && conversationFile !== null;
}

function launch(declaration: AgentDeclaration, request: LaunchRequest): LaunchPlan {
  const { name, command, sessionIdArgs } = declaration;
  if (!pins(declaration)) return plan(declaration, request, command);
  if (request.agentSessionId === null) {
    throw new AoError("usage", `agent ${name} needs a conversation id to start`);
  }
  return plan(declaration, request, [...command, ...sessionIdArgs]);
}

function resume(declaration: AgentDeclaration, request: LaunchRequest): LaunchPlan {
  if (!pins(declaration) || request.agentSessionId === null) {
    throw new AoError(
      "agent_session_unknown",
      `agent ${declaration.name} has no conversation to take up again`,
      {
        hint: "ao restore --fresh <session>",
      },
    );
  }
  return plan(declaration, request, declaration.resume);
}

function screenOf({ screen }: AgentDeclaration): ScreenPatterns {
  const expressions = (sources: readonly string[]) => sources.map((source) => new RegExp(source, "u"));
  return {
    waiting: expressions(screen.waiting),
    busy: expressions(screen.busy),
    ready: expressions(screen.ready),
    question: expressions(screen.question ?? []),
  };
}

function capabilitiesOf(declaration: AgentDeclaration): AgentCapabilities {
  const { hooks, prompt, permissions, screen } = declaration;
  const isPinned = pins(declaration);
  const showsReadiness = screen.ready.length > 0 || hooks.includes("ready");
  return {
    ...{ pinsSessionId: isPinned, resume: isPinned, capturesSessionId: false, fork: "none" },
    ...{ hooks: hooks.length > 0, receipts: hooks.includes("submitted"), bracketedPaste: false },
    firstPrompt: prompt,
    showsReadiness,
    ...(!showsReadiness && hooks.length === 0 && { needsReadiness: true }),
    permissionModes: PERMISSION_MODES.filter((mode) => permissions[mode] !== undefined),
  };
}

function profileOf({ hooks, screen, interrupt, conversationFile, tested }: AgentDeclaration): AgentProfile {
  const isOnScreen = screen.ready.length > 0;
  return {
    ...{ hookEvents: hooks, promptInArgv: "unknown", trust: "unknown", tested },
    readiness: hooks.includes("ready") ? "hook" : isOnScreen ? "screen" : "none",
    interruptKeys: interrupt,
    interruptEvidence: hooks.includes("interrupted") ? "hook" : isOnScreen ? "screen" : "none",
    ownLog: conversationFile === null ? null : { location: conversationFile, format: "not read" },
  };
}

function homeOf({ HOME: home }: Environment): string {
  return home ?? homedir();
}

async function isThere({ conversationFile }: AgentDeclaration, id: string, home: string): Promise<boolean> {
  if (conversationFile === null || !ID.test(id)) return false;
  const path = conversationFile.replace(/^~(?=\/)/, home).replaceAll("{sessionId}", id);
  return access(path.startsWith("/") ? path : join(home, path)).then(
    () => true,
    () => false,
  );
}

/** An agent as it was declared. What its screen and its hooks do not tell is not known of it. */
export function declaredAgent(declaration: AgentDeclaration, env: Environment): Agent {
  const { name, command, versionArgs, interrupt, hooks } = declaration;
  const [program = ""] = command;
  const installed = {
    name: program,
    versionArgs,
    hint: `install ${program}, or put its folder on PATH`,
    env,
  };
  const stops = interrupt.length > 0 && hooks.includes("interrupted");
  return {
    name,
    capabilities: capabilitiesOf(declaration),
    profile: profileOf(declaration),
    screen: screenOf(declaration),
    ...(stops && { cancel: { kind: "keys", keys: interrupt } as const }),
    check: (path, asks) => checkInstalled(installed, path, asks),
    launch: (request) => launch(declaration, request),
    resume: (request) => resume(declaration, request),
    home: homeOf,
    hasConversation: async (id, { home }) =>
      pins(declaration) && isThere(declaration, id, home ?? homeOf(env)),
    interpret: (event) => interpretDeclared(hooks, event),
  };
}
