import { AoError } from "../../../domain/errors.ts";
import { PERMISSION_MODES } from "../../../domain/session.ts";
import type { Agent, LaunchPlan, LaunchRequest } from "../../../ports/agent.ts";
import type { ConversationPlace } from "../../../ports/agent-target.ts";
import { checkInstalled } from "../installed-program.ts";
import { cancelTurn } from "./cancel-turn.ts";
import { entriesIn } from "./conversation-entries.ts";
import { copyConversation } from "./fork-conversation.ts";
import { interpretOpencode } from "./interpret.ts";
import { launchConfig } from "./launch-config.ts";
import { databasePath } from "./opencode-files.ts";
import { OPENCODE_PROFILE } from "./opencode-profile.ts";
import { readConversation } from "./read-database.ts";

/** How long a death still counts as a failed start: an argument that it does not know ends it within 2 s (1.18.33). */
const SETTLE_MS = 2_500;

type Environment = Readonly<Record<string, string | undefined>>;

function plan(env: Environment, request: LaunchRequest, idArgs: readonly string[]): LaunchPlan {
  const { model, permissions, extraArgs, projectEnv = {} } = request;
  const given = { ...env, ...projectEnv };
  const { env: configEnv, files } = launchConfig(request, given["OPENCODE_CONFIG_CONTENT"]);
  // Its updater asks the user's own settings alone, and would change the program under a running session (1.18.33).
  const noUpdate = given["OPENCODE_DISABLE_AUTOUPDATE"] ?? "1";
  return {
    argv: [
      ...["opencode", ...idArgs],
      ...(permissions === "bypass" ? ["--auto"] : []),
      ...(model === null ? [] : [`--model=${model}`]),
      ...extraArgs,
    ],
    env: { ...configEnv, OPENCODE_DISABLE_AUTOUPDATE: noUpdate },
    files,
    settleMs: SETTLE_MS,
  };
}

function resume(env: Environment, request: LaunchRequest): LaunchPlan {
  const { agentSessionId: id } = request;
  if (id === null) {
    throw new AoError("agent_session_unknown", "opencode needs a conversation id to resume", {
      hint: "ao restore --fresh <session>",
    });
  }
  return plan(env, request, ["--session", id]);
}

/** OpenCode, started with a plugin of this launch alone. `env` says where it keeps its files. */
export function opencodeAgent({ env }: { readonly env: Environment }): Agent {
  const databaseOf = ({ home }: Pick<ConversationPlace, "home">) => home ?? databasePath(env);
  const program = {
    name: "opencode",
    versionArgs: ["--version"],
    hint: "npm install -g opencode-ai",
    env,
  };
  return {
    name: "opencode",
    capabilities: {
      ...{ pinsSessionId: false, capturesSessionId: true, begunByPrompt: true, resume: true, fork: "prefix" },
      ...{ hooks: true, receipts: true, bracketedPaste: true, firstPrompt: "message", showsReadiness: true },
      // The first start in a home takes 10 to 20 s, on a machine with five times its load 45 s (1.18.33).
      readyWithinMs: 120_000,
      commandMarks: ["/"],
      permissionModes: PERMISSION_MODES,
    },
    profile: OPENCODE_PROFILE,
    screen: {
      waiting: [/△ Permission required/],
      busy: [/esc (again to )?interrupt/],
      ready: [/ctrl\+p commands/],
    },
    cancel: { kind: "call", cancelTurn: (target) => cancelTurn(target) },
    fork: {
      kind: "prefix",
      copy: (request) =>
        copyConversation({ env, from: databaseOf(request.source), to: databaseOf(request) }, request),
    },
    receiptText: (text) => text.trim(),
    check: (path, asks) => checkInstalled(program, path, asks),
    launch: (request) => plan(env, request, []),
    resume: (request) => resume(env, request),
    home: databasePath,
    async hasConversation(id, place) {
      const { workspacePath } = place;
      const found = await readConversation(databaseOf(place), { id, workspacePath });
      return found !== undefined && found.messages.length > 0;
    },
    interpret: interpretOpencode,
    async readConversation(id, place) {
      const { workspacePath } = place;
      const found = await readConversation(databaseOf(place), { id, workspacePath }).catch(() => undefined);
      return found === undefined ? null : entriesIn(found.messages);
    },
  };
}
