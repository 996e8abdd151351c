import { AoError } from "../../../domain/errors.ts";
import { PERMISSION_MODES } from "../../../domain/session.ts";
import type { Agent, LaunchPlan, LaunchRequest } from "../../../ports/agent.ts";

/** How long a death still counts as a failed start, in milliseconds. */
const SETTLE_MS = 80;

function launch(request: LaunchRequest): LaunchPlan {
  if (request.extraArgs.length === 0) {
    throw new AoError("usage", "the shell agent needs a command", {
      hint: "ao spawn --agent shell -- <command> [arguments…]",
    });
  }
  const env = request.promptFile === null ? {} : { AO_PROMPT_FILE: request.promptFile };
  return { argv: [...request.extraArgs], env, files: [], settleMs: SETTLE_MS };
}

function resume(): never {
  throw new AoError("agent_session_unknown", "a shell command keeps no conversation to take up again", {
    hint: "ao restore --fresh <session>",
  });
}

/**
 * Any command as an agent: the user's own arguments are its argv, run without a shell in between.
 *
 * The prompt, when there is one, is in the file that `AO_PROMPT_FILE` names. It reports nothing, so its
 * activity is read from its terminal. The command itself is looked up when it is started, not by `check`.
 */
export function shellAgent(): Agent {
  return {
    name: "shell",
    capabilities: {
      ...{ pinsSessionId: false, resume: false, fork: "none", hooks: false, receipts: false },
      ...{ bracketedPaste: false, capturesSessionId: false, showsReadiness: false },
      ...{ firstPrompt: "file", permissionModes: PERMISSION_MODES },
    },
    profile: {
      ...{ hookEvents: [], promptInArgv: "unknown", readiness: "none", interruptKeys: [] },
      ...{ interruptEvidence: "none", trust: "none_needed", ownLog: null },
      tested: { from: "POSIX", to: "POSIX", on: "2026-11-30" },
    },
    check: async () => ({ kind: "ok", version: "POSIX", path: "/bin/sh" }),
    launch,
    resume,
    hasConversation: async () => false,
    interpret: () => undefined,
  };
}
