import type { ProjectId, SessionId } from "./ids.ts";

/** Where things are below a data directory. All paths are absolute when the directory is. */
export interface DataLayout {
  /** Canonical state (SQLite). */
  readonly database: string;
  /** The managed root: every worktree is below it. */
  readonly worktreesRoot: string;
  worktree(projectId: ProjectId, sessionId: SessionId): string;
  /** The private files of launches, a folder for each session. */
  readonly launches: string;
  /** Launch script, prompt file and agent settings of its launches, a folder for each. */
  launchDir(sessionId: SessionId): string;
  /** Hook events that wait to be read. */
  readonly inbox: string;
  /** What the runtime remembers of its server. */
  readonly runtimeState: string;
  /** Agents that sessions were started with and that a configuration declares, a file each. */
  readonly declaredAgents: string;
  /** One file for each lock that was ever held. */
  readonly locks: string;
  /** Removed worktrees on their way out. */
  readonly trash: string;
  /** Conversations as `ao` itself keeps them, a folder for each project. */
  readonly transcripts: string;
  transcriptFolder(projectId: string): string;
  /** One file for each session whose transcript could not be saved, by its id; it says why. */
  readonly unsavedTranscripts: string;
  /** Transcripts that were pruned, until their time of grace is over. */
  readonly prunedTranscripts: string;
  /** Folders that stay and in which a process that dies may leave the draft of a file. */
  readonly draftFolders: readonly string[];
}

/** The layout below `dataDir` (cli.md §2). Pure: nothing is made and nothing is looked up. */
export function dataLayout(dataDir: string): DataLayout {
  const root = dataDir.replace(/\/+$/, "");
  return {
    database: `${root}/ao.db`,
    worktreesRoot: `${root}/worktrees`,
    worktree: (projectId, sessionId) => `${root}/worktrees/${projectId}/${sessionId}`,
    launches: `${root}/launch`,
    launchDir: (sessionId) => `${root}/launch/${sessionId}`,
    inbox: `${root}/inbox`,
    runtimeState: `${root}/runtime`,
    declaredAgents: `${root}/agents`,
    locks: `${root}/locks`,
    trash: `${root}/trash`,
    transcripts: `${root}/transcripts`,
    transcriptFolder: (projectId) => `${root}/transcripts/${projectId}`,
    unsavedTranscripts: `${root}/unsaved`,
    prunedTranscripts: `${root}/trash/transcripts`,
    draftFolders: [`${root}/runtime`, `${root}/agents`, `${root}/unsaved`],
  };
}
