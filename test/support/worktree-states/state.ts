import { spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import type { IgnoredRule } from "../../../src/domain/ignored-rule.ts";
import type { FindingKind, SkipReason } from "../../../src/domain/workspace-finding.ts";
import type { PostCreate } from "../../../src/ports/post-create.ts";
import type { TestRepository } from "../git-repository.ts";

/** The worktree of a session in its repository. */
export interface StatePlace {
  readonly repository: TestRepository;
  readonly path: string;
  /** Runs git in the worktree. */
  git(...args: readonly string[]): string;
  /** Writes a file of the worktree. */
  write(file: string, content?: string): void;
  /** Writes it, and commits it. */
  commit(file: string, content?: string): string;
}

/** Which repository the session works in: `bare` has no working tree, `submodule` has one at `lib`. */
export type StateProject = "usual" | "bare" | "submodule";

/** What is on a file system of its own: all worktrees, the trash, or the folder of one project's worktrees. */
export type OwnDisk = "worktrees" | "trash" | "project";

/** One state of a session's worktree, and what `ao` has to make of it. */
export interface WorktreeState {
  /** What is the case, in the present tense. */
  readonly name: string;
  /** `usual` when not given. */
  readonly project?: StateProject;
  /** What the repository goes through before the worktree is made. */
  readonly prepare?: (repository: TestRepository) => void;
  /** What is put into the worktree when it is made. */
  readonly postCreate?: Partial<PostCreate>;
  /** What the project's configuration says of ignored files. */
  readonly ignored?: IgnoredRule;
  /** What lies on another file system than all else; nothing when not given. */
  readonly ownDisk?: OwnDisk;
  /** Paths in the worktree that nobody may open afterwards: `""` is its folder. */
  readonly closed?: readonly string[];
  /** Its repository is another user's afterwards. */
  readonly isForeign?: boolean;
  /** Brings it about. Processes that it starts end with the test. */
  readonly arrange: (place: StatePlace) => void | Promise<void>;
  /** Kinds of what is found, in the order of `FINDING_KINDS`; none when it may be freed. */
  readonly finds: readonly FindingKind[];
  /** Why a cleanup skips it; `null` when it may be freed. `unsafe_path` when it is not even looked into. */
  readonly reason: SkipReason | null;
  /** Why a cleanup that keeps work aside skips it all the same, where what is found does not tell. */
  readonly stays?: SkipReason;
  /** What is no work: it does not come back with the rest, nor does all below it. */
  readonly lost?: readonly string[];
  /** What a restore says besides. */
  readonly warnings?: readonly RegExp[];
  /** git was made not to see it, and sees it when it is back. */
  readonly isHidden?: boolean;
  /** The branch of the session is gone: a restore can check out only what was kept. */
  readonly isBranchless?: boolean;
}

interface Start {
  readonly program?: string;
  readonly cwd?: string;
  /** A file descriptor for its output. */
  readonly output?: number;
}

/** Starts a process that stays until the test ends. */
export async function startSleep({ program = "sleep", cwd = "/", output }: Start): Promise<void> {
  const child = spawn(program, ["600"], { cwd, stdio: ["ignore", output ?? "ignore", "ignore"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await new Promise<void>((resolve, reject) => child.once("spawn", resolve).once("error", reject));
}
