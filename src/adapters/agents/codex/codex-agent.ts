import { join } from "node:path";
import { AoError } from "../../../domain/errors.ts";
import { HOOK_SCRIPT } from "../../../domain/hook-script.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../../domain/session.ts";
import type { Agent, LaunchPlan, LaunchRequest } from "../../../ports/agent.ts";
import type { ConversationPlace } from "../../../ports/agent-target.ts";
import { checkInstalled } from "../installed-program.ts";
import { codexFolder } from "./codex-files.ts";
import { CODEX_PROFILE } from "./codex-profile.ts";
import { entriesIn } from "./conversation-entries.ts";
import { copyConversation } from "./fork-conversation.ts";
import { interpretCodex } from "./interpret.ts";
import { launchSettings } from "./launch-settings.ts";
import { HOOK_FILE, readOwnEvents } from "./own-events.ts";
import { readRollout } from "./read-rollout.ts";
import { toolMarks } from "./tool-marks.ts";

/** How long a death still counts as a failed start: a bad argument ends it within 300 ms (0.171.0). */
const SETTLE_MS = 500;

export interface CodexOptions {
  /** The environment `ao` was called with: it says where codex keeps its files. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const MODE_ARGS: Readonly<Record<PermissionMode, readonly string[]>> = {
  default: [],
  "accept-edits": ["--sandbox", "workspace-write", "--ask-for-approval", "on-request"],
  bypass: ["--dangerously-bypass-approvals-and-sandbox"],
};

function plan(request: LaunchRequest, command: readonly string[]): LaunchPlan {
  const { launchDir, workspacePath, model, permissions, extraArgs } = request;
  const scriptPath = join(launchDir, HOOK_FILE);
  return {
    argv: [
      // Its daemon would go on with a turn after the session was killed, for one (0.171.0).
      ...["codex", ...command, "--no-daemon"],
      ...launchSettings(scriptPath, workspacePath),
      ...MODE_ARGS[permissions],
      ...(model === null ? [] : [`--model=${model}`]),
      ...extraArgs,
    ],
    env: {},
    files: [{ path: scriptPath, content: HOOK_SCRIPT }],
    settleMs: SETTLE_MS,
  };
}

function resume(request: LaunchRequest): LaunchPlan {
  const { agentSessionId: id, workspacePath } = request;
  // Without a folder it asks in which one to go on, where it was held in another (0.171.0).
  if (id !== null) return plan(request, ["resume", id, "--cd", workspacePath]);
  throw new AoError("agent_session_unknown", "codex needs a conversation id to resume", {
    hint: "ao restore --fresh <session>",
  });
}

/** OpenAI's Codex CLI, started with hooks of this launch alone. Its first prompt is sent once its screen is ready. */
export function codexAgent({ env }: CodexOptions): Agent {
  const folderOf = ({ home }: Pick<ConversationPlace, "home">) => home ?? codexFolder(env);
  const program = { name: "codex", versionArgs: ["--version"], hint: "npm install -g @openai/codex", env };
  return {
    name: "codex",
    capabilities: {
      ...{ pinsSessionId: false, capturesSessionId: true, begunByPrompt: true, resume: true, fork: "prefix" },
      ...{ hooks: true, receipts: true, bracketedPaste: true, firstPrompt: "message", showsReadiness: true },
      commandMarks: ["/", "!"],
      permissionModes: PERMISSION_MODES,
    },
    profile: CODEX_PROFILE,
    screen: {
      waiting: [
        /press enter to (confirm|continue)/i,
        /enter confirm · esc/,
        /^› \d\. (Yes|No|Trust|Review|Sign in|Update|Use) /,
        /This conversation is open in another app/,
      ],
      busy: [/esc to interrupt/],
      ready: [/\? for shortcuts/],
    },
    cancel: { kind: "keys", keys: ["Escape"], toolMarks: (place) => toolMarks(folderOf(place), place) },
    fork: {
      kind: "prefix",
      copy: (request) => copyConversation({ from: folderOf(request.source), to: folderOf(request) }, request),
    },
    receiptText: (text) => text.trim(),
    check: (path, asks) => checkInstalled(program, path, asks),
    launch: (request) => plan(request, []),
    resume,
    home: codexFolder,
    hasConversation: async (id, place) =>
      (await readRollout(folderOf(place), id, place.workspacePath)) !== undefined,
    interpret: interpretCodex,
    readEvents: (running) => readOwnEvents(folderOf(running), running),
    async readConversation(id, place) {
      const content = await readRollout(folderOf(place), id, place.workspacePath).catch(() => undefined);
      return content === undefined ? null : entriesIn(content);
    },
  };
}
