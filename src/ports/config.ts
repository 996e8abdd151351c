import type { ProjectId } from "../domain/ids.ts";
import type { IgnoredRule } from "../domain/ignored-rule.ts";
import type { Project } from "../domain/project.ts";
import type { PermissionMode, SessionKind } from "../domain/session.ts";
import type { AgentDeclaration } from "./agent-declaration.ts";

/** A value with the place it comes from: `<file>:<line>`, the name of a variable, or `default`. */
export interface Sourced<Value> {
  readonly value: Value;
  readonly origin: string;
}

/** A project as a configuration file names it. It need not be registered, nor its path exist. */
export interface ConfiguredProject {
  /** `null` when the file lies in the project's repository and has no name for it: derived from the folder. */
  readonly id: ProjectId | null;
  /** `null` means: the folder's name. */
  readonly name: string | null;
  /** Absolute, links resolved where the folder exists. */
  readonly path: string;
  /** `null` means: derived from the folder's name. */
  readonly prefix: string | null;
  /** `null` means: ask git. */
  readonly defaultBranch: string | null;
}

/** An agent as the file names it, and where. Whether there is one of that name is not the file's to know. */
export interface NamedAgent {
  readonly name: string;
  /** For example `projects.app.worker.agent`. */
  readonly key: string;
  /** From 1. */
  readonly line: number;
}

/** What the configuration says for new sessions of one kind in one project. */
export interface SessionSettings {
  readonly agent: Sourced<string>;
  readonly model: Sourced<string | null>;
  readonly permissions: Sourced<PermissionMode>;
  /** Text that follows the prompt. */
  readonly rules: Sourced<string | null>;
  readonly defaultBranch: Sourced<string | null>;
  readonly symlinks: Sourced<readonly string[]>;
  readonly copy: Sourced<readonly string[]>;
  /** Shell commands the user wrote, for a new worktree. */
  readonly postCreate: Sourced<readonly string[]>;
  readonly postCreateTimeoutMs: Sourced<number>;
  readonly env: Sourced<Readonly<Record<string, string>>>;
  readonly ignored: Sourced<IgnoredRule>;
  /** How many worktrees are made ahead and kept ready. */
  readonly pool: Sourced<number>;
}

/**
 * One loaded configuration; with no file every setting is a default. Behaviour every adapter owes:
 * test/contract/config.contract.ts.
 */
export interface Config {
  /** The file in use, absolute, or `null`. */
  readonly path: string | null;
  /** One line for each key that is unknown or has no effect yet. */
  readonly warnings: readonly string[];
  readonly projects: readonly ConfiguredProject[];
  /** Every agent that is named, in the order of `defaults` and then of the projects. */
  readonly agents: readonly NamedAgent[];
  /** Agents that it declares itself, beside those that `ao` knows. */
  readonly declaredAgents: readonly AgentDeclaration[];
  /**
   * The settings for a project, or for no project in particular.
   *
   * @throws AoError config_invalid when a rules file cannot be read.
   */
  settingsFor(project: Project | null, kind: SessionKind): Promise<SessionSettings>;
  /** What it says of ignored files alone: the same as in the settings, whatever else is wrong with these. */
  ignoredFor(project: Project | null): Promise<IgnoredRule>;
}
