import { join } from "node:path";
import { AoError } from "../../../domain/errors.ts";
import { HOOK_SCRIPT } from "../../../domain/hook-script.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../../domain/session.ts";
import type { Agent, LaunchPlan, LaunchRequest } from "../../../ports/agent.ts";
import type { ConversationPlace } from "../../../ports/agent-target.ts";
import { checkInstalled } from "../installed-program.ts";
import { claudeFolder } from "./claude-files.ts";
import { CLAUDE_PROFILE } from "./claude-profile.ts";
import { entriesIn } from "./conversation-entries.ts";
import { copyConversation } from "./fork-conversation.ts";
import { launchSettings } from "./hook-settings.ts";
import { interpretClaude } from "./interpret.ts";
import { readOwnEvents } from "./own-events.ts";
import { readLog } from "./read-log.ts";

/** How long a death still counts as a failed start: a bad argument ends it within 400 ms (2.1.197). */
const SETTLE_MS = 500;

export interface ClaudeCodeOptions {
  /** The environment `ao` was called with: it says where claude keeps its files. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user that runs it, where the system tells. */
  readonly uid: number | undefined;
}

const MODE_ARGS: Readonly<Record<PermissionMode, readonly string[]>> = {
  default: [],
  "accept-edits": ["--permission-mode", "acceptEdits"],
  bypass: ["--dangerously-skip-permissions"],
};

/** Trust in the workspace for this launch alone, and no update under a running session (2.1.197). */
const LAUNCH_ENV = { CLAUDE_CODE_SANDBOXED: "1", DISABLE_AUTOUPDATER: "1", CLAUDECODE: "" };

function plan(request: LaunchRequest, idArgs: readonly string[]): LaunchPlan {
  const { launchDir, promptFile, model, permissions, extraArgs } = request;
  const [settings, scriptPath] = [join(launchDir, "settings.json"), join(launchDir, "hook.sh")];
  return {
    argv: [
      ...["claude", ...idArgs, "--settings", settings],
      ...MODE_ARGS[permissions],
      ...(model === null ? [] : [`--model=${model}`]),
      ...extraArgs,
    ],
    env: LAUNCH_ENV,
    files: [
      { path: settings, content: launchSettings(scriptPath, permissions) },
      { path: scriptPath, content: HOOK_SCRIPT },
    ],
    settleMs: SETTLE_MS,
    ...(promptFile !== null && { stdinPath: promptFile }),
  };
}

/** It ends at once with these words for root, who would learn of it only by a session that died (2.1.197). */
function refuseRoot({ env, uid }: ClaudeCodeOptions, { permissions }: LaunchRequest): void {
  if (uid !== 0 || permissions !== "bypass" || env["IS_SANDBOX"] === "1") return;
  throw new AoError(
    "usage",
    "claude does not bypass permissions with root privileges, for security reasons",
    {
      hint: "choose --permissions accept-edits, or set IS_SANDBOX=1 where all of this machine is a sandbox",
    },
  );
}

function launch(request: LaunchRequest): LaunchPlan {
  const { agentSessionId: id } = request;
  if (id === null) throw new AoError("usage", "claude needs a conversation id to start");
  return plan(request, ["--session-id", id]);
}

function resume(request: LaunchRequest): LaunchPlan {
  const { agentSessionId: id } = request;
  if (id === null) {
    throw new AoError("agent_session_unknown", "claude needs a conversation id to resume", {
      hint: "ao restore --fresh <session>",
    });
  }
  return plan(request, ["--resume", id]);
}

/** Claude Code, started with hooks of this launch alone. Its first prompt comes on standard input. */
export function claudeCodeAgent(options: ClaudeCodeOptions): Agent {
  const { env } = options;
  const folderOf = ({ home }: Pick<ConversationPlace, "home">) => home ?? claudeFolder(env);
  const program = {
    name: "claude",
    versionArgs: ["--version"],
    hint: "npm install -g @anthropic-ai/claude-code",
    env,
  };
  return {
    name: "claude-code",
    capabilities: {
      ...{ pinsSessionId: true, capturesSessionId: true, begunByPrompt: true, resume: true, fork: "prefix" },
      ...{ hooks: true, receipts: true, bracketedPaste: true, firstPrompt: "stdin", showsReadiness: true },
      // Under load it loses an Enter that comes with the paste; with this between them it did not (2.1.197).
      enterDelayMs: 300,
      commandMarks: ["/", "!"],
      permissionModes: PERMISSION_MODES,
    },
    profile: CLAUDE_PROFILE,
    screen: {
      waiting: [/^❯ 1\. (Yes|No), /, /Do you want to proceed\?/, /Enter to confirm · Esc to/],
      busy: [/esc to interrupt/],
      ready: [/^\? for shortcuts/],
    },
    // A prompt that was stopped before the first word comes back into the input, where the next one would join it.
    cancel: { kind: "keys", keys: ["Escape"], clearing: ["C-c"] },
    fork: {
      kind: "prefix",
      copy: (request) => copyConversation({ from: folderOf(request.source), to: folderOf(request) }, request),
    },
    receiptText: (text) => text.trim(),
    check: (path, asks) => checkInstalled(program, path, asks),
    launch(request) {
      refuseRoot(options, request);
      return launch(request);
    },
    resume(request) {
      refuseRoot(options, request);
      return resume(request);
    },
    home: claudeFolder,
    hasConversation: async (id, place) =>
      (await readLog(folderOf(place), id, place.workspacePath)) !== undefined,
    interpret: interpretClaude,
    readEvents: (running) => readOwnEvents(folderOf(running), running),
    async readConversation(id, place) {
      const content = await readLog(folderOf(place), id, place.workspacePath).catch(() => undefined);
      return content === undefined ? null : entriesIn(content);
    },
  };
}
