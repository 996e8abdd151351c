import { access, constants, rm } from "node:fs/promises";
import { AoError } from "../../../domain/errors.ts";
import { PERMISSION_MODES } from "../../../domain/session.ts";
import type { Agent, LaunchPlan, LaunchRequest } from "../../../ports/agent.ts";
import type { ToolCheck } from "../../../ports/tool-check.ts";
import { readEntries } from "./conversation-entries.ts";
import { conversationFile, conversationsFolder, isConversationId } from "./conversation-path.ts";
import { copyConversation } from "./fork-conversation.ts";
import { interpretEmbedded } from "./interpret.ts";
import { readLoggedActivity } from "./logged-activity.ts";
import { EMBEDDED_PROFILE } from "./profile.ts";
import { PROGRAM_VERSION } from "./program-version.ts";

/** How long a death still counts as a failed start, in milliseconds: a bad argument ends it within 100. */
const SETTLE_MS = 120;

export interface EmbeddedAgentOptions {
  /** The bundled program, `dist/embedded-agent.js`. */
  readonly programPath: string;
  /** The Node that runs it. */
  readonly nodePath: string;
}

async function isReadable(path: string): Promise<boolean> {
  return access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
}

async function check(programPath: string): Promise<ToolCheck> {
  return (await isReadable(programPath))
    ? { kind: "ok", version: PROGRAM_VERSION, path: programPath }
    : { kind: "missing", hint: "reinstall ao, or run `npm run build` in its folder" };
}

function optionArgs(request: LaunchRequest): readonly string[] {
  return [
    ...(request.promptFile === null ? [] : ["--prompt-file", request.promptFile]),
    ...(request.model === null ? [] : [`--model=${request.model}`]),
    "--permissions",
    request.permissions,
    ...request.extraArgs,
  ];
}

function plan(options: EmbeddedAgentOptions, request: LaunchRequest, idArgs: readonly string[]): LaunchPlan {
  const argv = [options.nodePath, options.programPath, ...idArgs, ...optionArgs(request)];
  return { argv, env: {}, files: [], settleMs: SETTLE_MS };
}

function launch(options: EmbeddedAgentOptions, request: LaunchRequest): LaunchPlan {
  if (request.agentSessionId === null) {
    throw new AoError("usage", "the embedded agent needs a conversation id to start");
  }
  return plan(options, request, ["--session-id", request.agentSessionId]);
}

function resume(options: EmbeddedAgentOptions, request: LaunchRequest): LaunchPlan {
  if (request.agentSessionId === null) {
    throw new AoError("agent_session_unknown", "the embedded agent needs a conversation id to resume", {
      hint: "ao restore --fresh <session>",
    });
  }
  return plan(options, request, ["--resume", request.agentSessionId]);
}

/**
 * The agent that ships with `ao`: it needs no network and no account, and can all that an agent can.
 *
 * What it understands is in program/help.ts, what it reports in hook-body.ts.
 */
export function embeddedAgent(options: EmbeddedAgentOptions): Agent {
  return {
    name: "embedded",
    capabilities: {
      ...{ pinsSessionId: true, resume: true, fork: "prefix", hooks: true, receipts: true },
      ...{ bracketedPaste: true, capturesSessionId: false, showsReadiness: true },
      ...{ firstPrompt: "file", permissionModes: PERMISSION_MODES },
    },
    profile: EMBEDDED_PROFILE,
    cancel: { kind: "keys", keys: ["Escape"] },
    fork: { kind: "prefix", copy: copyConversation },
    check: () => check(options.programPath),
    launch: (request) => launch(options, request),
    resume: (request) => resume(options, request),
    hasConversation: async (id, { dataDir }) =>
      isConversationId(id) && (await isReadable(conversationFile(conversationsFolder(dataDir), id))),
    async forgetConversation(id, { dataDir }) {
      if (isConversationId(id)) await rm(conversationFile(conversationsFolder(dataDir), id), { force: true });
    },
    interpret: interpretEmbedded,
    readConversation: (id, { dataDir }) => readEntries(conversationsFolder(dataDir), id),
    readActivity: (id, { dataDir, sinceMs }) => readLoggedActivity(conversationsFolder(dataDir), id, sinceMs),
  };
}
