/**
 * `ao` as a library: open it on a data directory, then call the same use cases as the command line.
 *
 * ```ts
 * const ao = await openAo({ env: process.env, cwd: process.cwd(), access: "create" });
 * const plan = await planSpawn(ao, { project: null, kind: "worker", agent: null });
 * const { record } = await spawnPlanned(ao, plan, { ...anEmptySpawn, prompt: "fix the tests" });
 * await sendMessage(ao.deps, record.id, "and the docs", { timeoutMs: 60_000 });
 * ao.close();
 * ```
 */
export { type Access, type Ao, type OpenOptions, openAo } from "./compose.ts";
export { AoError, type AoErrorCode, EXIT_CODES, isAoError } from "./domain/errors.ts";
export type { FileChange } from "./domain/file-change.ts";
export { type ForkJson, type ForkStatus, toForkJson } from "./domain/fork.ts";
export type { GoalFence, GoalState } from "./domain/goal.ts";
export { type GoalJson, toGoalJson } from "./domain/goal-json.ts";
export type { GoalControl } from "./domain/goal-transitions.ts";
export {
  type LaunchId,
  type ProjectId,
  parseProjectId,
  parseSessionId,
  type SessionId,
} from "./domain/ids.ts";
export { type CanonicalLifecycle, isTerminal } from "./domain/lifecycle.ts";
export type { Project } from "./domain/project.ts";
export type { Salvage, SalvageContent, SalvagedFile, SalvageReason } from "./domain/salvage.ts";
export {
  type SalvageContentJson,
  type SalvageJson,
  toSalvageContentJson,
  toSalvageJson,
} from "./domain/salvage-json.ts";
export type { SessionKind, SessionRecord } from "./domain/session.ts";
export { type SessionJson, toSessionJson } from "./domain/session-json.ts";
export { deriveStatus, STATUSES, type Status } from "./domain/status.ts";
export type { Turn, TurnOrigin, TurnOutcome, TurnPhase } from "./domain/turn.ts";
export { type TurnJson, toTurnJson } from "./domain/turn-json.ts";
export { type AttachCommand, attachCommand } from "./lifecycle/attach-command.ts";
export { type CancelOptions, type CancelResult, cancelTurn } from "./lifecycle/cancel/cancel-turn.ts";
export { captureOutput } from "./lifecycle/capture-output.ts";
export { type CleanupRequest, cleanup } from "./lifecycle/cleanup/cleanup-once.ts";
export type { CleanupReport, CleanupResult } from "./lifecycle/cleanup/cleanup-report.ts";
export { type CleanupOptions, cleanupSessions } from "./lifecycle/cleanup/cleanup-sessions.ts";
export {
  anEmptySpawn,
  forkConfigured,
  planSpawn,
  restoreConfigured,
  type SpawnInput,
  type SpawnPlace,
  type SpawnPlan,
  spawnPlanned,
} from "./lifecycle/configured-sessions.ts";
export type { SessionDeps } from "./lifecycle/deps.ts";
export { type Comparison, compareSessions } from "./lifecycle/forks/compare-sessions.ts";
export type { ForkRequest, ForkResult } from "./lifecycle/forks/fork-request.ts";
export { forkSession } from "./lifecycle/forks/fork-session.ts";
export {
  type ClosedIssue,
  type ClosedSession,
  type CloseIssueRequest,
  closeIssue,
} from "./lifecycle/goals/close-issue.ts";
export { controlGoal, type GoalOptions, type GoalResult } from "./lifecycle/goals/control-goal.ts";
export { type FenceResult, fenceGoal } from "./lifecycle/goals/fence-goal.ts";
export type { FenceRequest } from "./lifecycle/goals/prepare-fence.ts";
export { type KillOptions, killSession } from "./lifecycle/kill/kill-session.ts";
export type { KillResult } from "./lifecycle/kill/kill-steps.ts";
export { deliverQueued, type QueuedDeliveries } from "./lifecycle/messages/deliver-queued.ts";
export { type SendOptions, type SendResult, sendMessage } from "./lifecycle/messages/send-message.ts";
export {
  getSession,
  type ListOptions,
  listSessions,
  type SessionList,
} from "./lifecycle/observe/list-sessions.ts";
export { addProject, listProjects, removeProject, resolveProject } from "./lifecycle/projects/projects.ts";
export { resolveSessionId } from "./lifecycle/resolve-session-id.ts";
export type { RestoreResult } from "./lifecycle/restore/restore-result.ts";
export { restoreSession } from "./lifecycle/restore/restore-session.ts";
export {
  type FoundSalvage,
  findSalvage,
  listSalvages,
  type SalvageList,
} from "./lifecycle/salvage/find-salvage.ts";
export { putBackSession } from "./lifecycle/salvage/put-back-session.ts";
export type { PutBackResult } from "./lifecycle/salvage/put-back-steps.ts";
export { type RewindOptions, rewindSession } from "./lifecycle/salvage/rewind-session.ts";
export type { RewindResult } from "./lifecycle/salvage/rewind-steps.ts";
export type { SpawnRequest } from "./lifecycle/spawn/spawn-request.ts";
export { type SpawnResult, spawnSession } from "./lifecycle/spawn/spawn-session.ts";
export { type PageOptions, readPage, type TranscriptPage } from "./lifecycle/transcripts/read-page.ts";
export { verifyTranscripts } from "./lifecycle/transcripts/verify-transcripts.ts";
export { type ListTurnsOptions, listTurns } from "./lifecycle/turns/list-turns.ts";
