import type { PermissionMode } from "../domain/session.ts";
import type { TestedVersions } from "../domain/tested-versions.ts";

/** What an agent without an adapter of its own may tell by `ao hooks <agent> <event>`; the body is text. */
export const DECLARED_EVENTS = [
  "ready",
  "submitted",
  "active",
  "waiting",
  "permission",
  "stopped",
  "failed",
  "interrupted",
  "exited",
] as const;
export type DeclaredEvent = (typeof DECLARED_EVENTS)[number];

/** What stands for something of a launch in the arguments of a declared agent. There is none for the prompt. */
export const PLACEHOLDERS = ["{model}", "{promptFile}", "{sessionId}", "{workspace}"] as const;

/**
 * An agent that is described and not programmed: in the configuration, or by `ao` from the documents of its
 * program. Lists of arguments may hold `PLACEHOLDERS`.
 */
export interface AgentDeclaration {
  readonly name: string;
  /** Program and arguments of every start. */
  readonly command: readonly string[];
  /** How its first prompt reaches it; see `AgentCapabilities.firstPrompt`. */
  readonly prompt: "stdin" | "file" | "message";
  /** Added when there is a prompt file. */
  readonly promptArgs: readonly string[];
  /** Added when a model is chosen. */
  readonly modelArgs: readonly string[];
  /** Added to begin the conversation of a given id; none when it cannot be chosen. */
  readonly sessionIdArgs: readonly string[];
  /** Takes the place of `command` to take a conversation up again; none when it cannot. */
  readonly resume: readonly string[];
  /** A file that is there as long as the conversation is; `~` is the home. Needed to take one up again. */
  readonly conversationFile: string | null;
  /** The permission modes it has, and what each adds. */
  readonly permissions: Readonly<Partial<Record<PermissionMode, readonly string[]>>>;
  /** Regular expressions, each tried on single lines of its screen. */
  readonly screen: Readonly<Record<"ready" | "busy" | "waiting", readonly string[]>> & {
    /** Of plain questions, which a message may answer; whatever else it waits for is taken for leave. */
    readonly question?: readonly string[];
  };
  /** Keys that stop its turn, as tmux names them. */
  readonly interrupt: readonly string[];
  /** What it tells by `ao hooks`. */
  readonly hooks: readonly DeclaredEvent[];
  readonly env: Readonly<Record<string, string>>;
  readonly versionArgs: readonly string[];
  /** `null` for one that was never run with `ao`. */
  readonly tested: TestedVersions | null;
}

/** One that can only be started; spread it and name what else it can. */
export const ANY_DECLARATION: Omit<AgentDeclaration, "name" | "command"> = {
  prompt: "message",
  promptArgs: [],
  modelArgs: [],
  sessionIdArgs: [],
  resume: [],
  conversationFile: null,
  permissions: { default: [] },
  screen: { ready: [], busy: [], waiting: [] },
  interrupt: [],
  hooks: [],
  env: {},
  versionArgs: ["--version"],
  tested: null,
};
