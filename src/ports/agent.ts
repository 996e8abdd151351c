import type { ScreenPatterns } from "../domain/activity-from-screen.ts";
import type { Ask, HookEvent } from "../domain/facts.ts";
import type { LaunchId, ProjectId, SessionId } from "../domain/ids.ts";
import type { ActivityState } from "../domain/lifecycle.ts";
import type { PermissionMode } from "../domain/session.ts";
import type { ConversationEntry } from "../domain/transcript/conversation-entry.ts";
import type { GoalProvenance } from "../domain/turn.ts";
import type { TurnSignal } from "../domain/turn-signal.ts";
import type { AgentProfile } from "./agent-profile.ts";
import type { AgentTarget, ConversationPlace, LogPlace, RunningLaunch } from "./agent-target.ts";
import type { GoalRuntime } from "./goal-runtime.ts";
import type { Typed } from "./messenger.ts";
import type { ToolCheck } from "./tool-check.ts";
import type { AgentCancel } from "./turn-cancel.ts";

/** What an agent can do. The core asks these and never an agent's name. */
export interface AgentCapabilities {
  /** The conversation id is chosen by `ao` before the start. */
  readonly pinsSessionId: boolean;
  /** Its hooks name the conversation, which counts from then on, also another one that a person began inside it. */
  readonly capturesSessionId: boolean;
  /** It keeps nothing of a conversation before its first prompt; absent when it does, or is not known to. */
  readonly begunByPrompt?: boolean;
  /** A conversation can be taken up again by its id. */
  readonly resume: boolean;
  /** The kind of its `fork`; `none` without one. */
  readonly fork: AgentFork["kind"] | "none";
  /** It reports what it does through hooks; without, activity is read from its terminal's output. */
  readonly hooks: boolean;
  /** Its hooks carry the text that was submitted. */
  readonly receipts: boolean;
  /**
   * It asks its terminal for bracketed paste while it takes messages: control characters in one are text to it,
   * and no keys. What the terminal itself tells of that counts more.
   */
  readonly bracketedPaste: boolean;
  /** Begins a text that would be a command to it, no words: it gets a space in front. Absent where none is known. */
  readonly commandMarks?: readonly string[];
  /** It loses an Enter that follows a paste sooner than that, in milliseconds; absent when it loses none. */
  readonly enterDelayMs?: number;
  /**
   * How its first prompt reaches it. `file`: its plan names the file. `stdin`: the file is its standard input.
   * `message`: as the first message, once it is ready; its launch has no prompt file.
   */
  readonly firstPrompt: "file" | "stdin" | "message";
  /** It takes no message before a sign that it is ready: a hook, its own files, or its screen. */
  readonly showsReadiness: boolean;
  /** Until when after its start a first message waits for its readiness, in milliseconds; 30 s when absent. */
  readonly readyWithinMs?: number;
  /** Nothing tells yet that it is ready, and its prompts are not known: it takes no message at all until then. */
  readonly needsReadiness?: boolean;
  /** A launch with another mode is refused. */
  readonly permissionModes: readonly PermissionMode[];
}

export interface LaunchRequest {
  readonly sessionId: SessionId;
  readonly projectId: ProjectId;
  readonly launchId: LaunchId;
  readonly workspacePath: string;
  readonly dataDir: string;
  /** A 0700 folder of this launch. */
  readonly launchDir: string;
  /** File that holds the prompt, mode 0600; `null` when there is no prompt, or it comes as a message. */
  readonly promptFile: string | null;
  /** The conversation to begin or to take up; `null` when the agent chooses its own. */
  readonly agentSessionId: string | null;
  readonly model: string | null;
  readonly permissions: PermissionMode;
  /** Generations of its goal that it must refuse from its first moment on; absent for none. */
  readonly goalFences?: readonly GoalProvenance[];
  /** The user's own arguments for the agent, after `--`. */
  readonly extraArgs: readonly string[];
  /** What the project adds to the environment of the caller; absent for nothing. The plan's own `env` counts more. */
  readonly projectEnv?: Readonly<Record<string, string>>;
}

export interface LaunchPlan {
  /** Program and arguments; the program is looked up in the agent's `PATH`. Never carries the prompt. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Private files to write before the start; mode 0600. */
  readonly files: readonly { readonly path: string; readonly content: string }[];
  /** A file that is its standard input, in place of the terminal; absent for the terminal. */
  readonly stdinPath?: string;
  /** How long a death still counts as a failed start, in milliseconds. */
  readonly settleMs: number;
}

/** A conversation that is to go on twice, and where it is cut. */
export interface ForkRequest {
  /** The conversation that is copied, and where it was held. */
  readonly source: Omit<ConversationPlace, "dataDir"> & { readonly agentSessionId: string };
  /** Where the new one has to be, as `Agent.home` tells of its launch; `null` when it does not. */
  readonly home: string | null;
  /**
   * The `ConversationEntry.position` of the last entry that the new conversation remembers, as this agent gave it.
   * For `native` there is none after it.
   */
  readonly throughPosition: number;
  /**
   * The new conversation's launch. `agentSessionId` is the id it is to have, a UUID that was never used;
   * `promptFile` is `null`: a prompt comes later, as a message. The folder of its workspace is there by then.
   */
  readonly launch: LaunchRequest;
}

/** What a copy of a conversation came to. */
export type ForkAnswer =
  | {
      readonly kind: "accepted";
      /** The new conversation: the id that was asked for, or the agent's own. Never the source's. */
      readonly agentSessionId: string;
      /**
       * The last position, in the new conversation, of what was copied: what `readConversation` tells up to it was
       * said before. `null` when `readConversation` leaves that out itself.
       */
      readonly inheritedThrough: number | null;
    }
  /** Proven: nothing was made, nor will be. One clause that says why. */
  | { readonly kind: "refused"; readonly why: string };

/**
 * How an agent makes two conversations of one; the first stays byte for byte as it is, also while it goes on. Which
 * of it is the one call that is never repeated: `copy` for `prefix`, else the start of the plan.
 */
export type AgentFork =
  /**
   * The conversation's own record is copied up to a position under a new id, durably. `Agent.resume` takes the copy
   * up. A throw leaves in doubt whether it was made. An id that is taken already is refused.
   */
  | { readonly kind: "prefix"; copy(request: ForkRequest): Promise<ForkAnswer> }
  /**
   * The agent's own command forks a conversation at its end and runs the new one. Pure. `agentSessionId` is the new
   * id; `null` when only its hooks tell.
   */
  | {
      readonly kind: "native";
      plan(request: ForkRequest): { readonly launch: LaunchPlan; readonly agentSessionId: string | null };
    }
  /** `Agent.launch` begins a conversation whose prompt is what `ao` recorded of the turns. */
  | { readonly kind: "replay" };

/** What an agent was last doing, by its own log. */
export interface LoggedActivity {
  readonly state: ActivityState;
  /** When the log says that this began, Unix milliseconds; it may lie before the running launch. */
  readonly atMs: number;
  /** How the turn ended that this record ends; absent when it ends none. */
  readonly turn?: TurnSignal;
}

/** What one hook event means, in the core's words. */
export interface AgentSignal {
  readonly activity: ActivityState | null;
  /** What it waits for, where `waiting_input` may be more than a question that any message answers. */
  readonly asks?: Ask | null;
  readonly agentSessionId: string | null;
  /** What it says of a turn; absent or `null` for nothing. */
  readonly turn?: TurnSignal | null;
  /** What it says of the conversation that `agentSessionId` names; absent for nothing. */
  readonly said?: readonly ConversationEntry[];
  /** Its own log says something new of the conversation, which no hook tells; absent for nothing. */
  readonly logged?: boolean;
}

/** One agent CLI. Behaviour every adapter owes: test/contract/agent.contract.ts. */
export interface Agent {
  readonly name: string;
  readonly capabilities: AgentCapabilities;
  /**
   * By what its screen tells what it does, for as long as a launch has told nothing by hooks; absent when it does not.
   */
  readonly screen?: ScreenPatterns;
  /** What is known of its program; absent for one that exists only in tests. */
  readonly profile?: AgentProfile;
  /** How it is told to stop a turn; absent when it cannot be. */
  readonly cancel?: AgentCancel;
  /** Goals that it keeps and goes on with by itself; absent when `ao` has to do that, by messages. */
  readonly goal?: GoalRuntime;
  /** How a conversation of it is made into two; absent when it cannot be. */
  readonly fork?: AgentFork;
  /**
   * The part of a text by which what was sent is recognised in what the agent says was submitted, applied to
   * both. Pure. Absent: the text without line breaks at its end, which are never typed.
   */
  readonly receiptText?: (text: string) => string;
  /**
   * Whether it is installed, looked up in the given `PATH`. Never rejects. Its version is `unknown` where nobody
   * asks for it and the program would have to be run to tell.
   */
  check(path: string, asks?: "presence" | "version"): Promise<ToolCheck>;
  /**
   * The command that starts a new conversation. Pure.
   *
   * @throws AoError usage when the request lacks what this agent needs.
   */
  launch(request: LaunchRequest): LaunchPlan;
  /**
   * The command that takes the conversation of `request.agentSessionId` up again. Pure.
   *
   * @throws AoError agent_session_unknown when the agent cannot resume.
   */
  resume(request: LaunchRequest): LaunchPlan;
  /**
   * Where it keeps its conversations when it is started in that environment and that folder, an absolute path. Pure.
   * Absent when neither has a part in that.
   */
  home?(env: Readonly<Record<string, string | undefined>>, workspacePath: string): string;
  /** Whether it still has that conversation. @throws AoError agent_unavailable when its files cannot be read. */
  hasConversation(agentSessionId: string, place: ConversationPlace): Promise<boolean>;
  /**
   * Deletes what it wrote of a conversation whose first launch is taken back. Idempotent; an id that is none names
   * nothing. Absent when it keeps nothing that is `ao`'s to delete.
   */
  forgetConversation?(agentSessionId: string, place: Pick<ConversationPlace, "dataDir">): Promise<void>;
  /**
   * Hands a message over by a door of its own, in place of the keyboard; confirmed by the same receipt. Absent:
   * messages are typed. `closed`: not by this door now, nothing was sent, and it is typed.
   *
   * @throws AoError as `Messenger.send`
   */
  readonly deliver?: (target: AgentTarget, text: string) => Promise<Typed | { readonly kind: "closed" }>;
  /**
   * What its own files tell of a running launch that its hooks leave out, in the form of hook events of that launch,
   * which `interpret` reads. An event has the same id and time whenever it is read. Asked for at each look at an
   * agent whose turn may run; absent when its hooks tell all. Reads only the agent's own files; never rejects.
   */
  readonly readEvents?: (launch: RunningLaunch) => Promise<readonly HookEvent[]>;
  /** What a hook event says; `undefined` for one it does not know or cannot read. Pure, never throws. */
  interpret(event: HookEvent): AgentSignal | undefined;
  /**
   * All that the agent's own log holds of a conversation, in its order, each entry with the position that its
   * hooks give it; `null` when it cannot be read. Absent when it keeps none. A pure read; never rejects.
   */
  readonly readConversation?: (
    agentSessionId: string,
    place: ConversationPlace,
  ) => Promise<readonly ConversationEntry[] | null>;
  /**
   * What the last record of the agent's own log says that it does, of whichever launch; asked for as long as a
   * launch has told nothing by hooks, and when the hooks of one at work have been still for a while. `undefined` when
   * the log is missing, cannot be read, or does not say. Absent when it keeps none. Reads only the end of the agent's
   * own files, runs no process; never rejects.
   */
  readonly readActivity?: (id: string, place: LogPlace) => Promise<LoggedActivity | undefined>;
}
