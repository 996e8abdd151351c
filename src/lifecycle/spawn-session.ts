import { dataLayout } from "../domain/data-layout.ts";
import { AoError } from "../domain/errors.ts";
import { parseSessionId, type SessionId } from "../domain/ids.ts";
import { initialLifecycle } from "../domain/lifecycle.ts";
import { deriveBranch } from "../domain/names.ts";
import type { Project } from "../domain/project.ts";
import { composePrompt } from "../domain/prompt.ts";
import type { PermissionMode, SessionKind, SessionRecord } from "../domain/session.ts";
import { parseIssueId, parsePrompt, parseTitle } from "../domain/user-text.ts";
import type { StartedRuntime } from "../ports/runtime.ts";
import type { CreatedWorkspace, WorkspaceSpec } from "../ports/workspace.ts";
import type { OnStep, SessionDeps } from "./deps.ts";
import {
  checkLaunch,
  type LaunchDraft,
  launchEnvironment,
  prepareLaunch,
  requireAgent,
} from "./launch-agent.ts";
import { lifecycleManager } from "./lifecycle-manager.ts";
import type { ProjectSettings } from "./projects.ts";
import { type UndoStep, withUndo } from "./undo.ts";
import { undoLaunch, undoRow, undoRuntime, undoWorkspace } from "./undo-steps.ts";

export interface SpawnRequest {
  /** A registered project. */
  readonly project: Project;
  readonly settings: ProjectSettings;
  /** Name of an agent adapter. */
  readonly agent: string;
  /** The user's own arguments for the agent, after `--`. */
  readonly agentArgs: readonly string[];
  readonly issueId: string | null;
  readonly title: string | null;
  /** The user's prompt, without the project's rules. */
  readonly prompt: string | null;
  /** `null` means: derived from issue, title or session id. */
  readonly branch: string | null;
  /** Where a new branch starts; `null` means the default branch. */
  readonly baseRef: string | null;
  readonly kind: SessionKind;
  readonly model: string | null;
  readonly permissions: PermissionMode;
  readonly configPath: string | null;
  readonly onStep?: OnStep;
}

export interface SpawnResult {
  readonly record: SessionRecord;
  /** Things a person should know that were no failure. */
  readonly warnings: readonly string[];
}

/**
 * Makes a session: worktree, then runtime with the agent, then the row. A step that fails takes the
 * earlier ones back at once; what could not be taken back is in `details.left` of the first error.
 *
 * @throws AoError usage, agent_not_found, agent_unavailable, runtime_unavailable before any side effect.
 * @throws AoError as `Workspace.create` and `Runtime.create`.
 */
export async function spawnSession(deps: SessionDeps, request: SpawnRequest): Promise<SpawnResult> {
  refuseBadText(request);
  const draft = draftLaunch(deps, request);
  await checkLaunch(deps, draft);
  const sessionId = idOf(request.project, deps.store.allocateSessionNumber(request.project.prefix));
  return withUndo((undo) => carryOut(deps, request, { draft: { ...draft, sessionId }, undo }));
}

async function carryOut(
  deps: SessionDeps,
  request: SpawnRequest,
  { draft, undo }: { readonly draft: LaunchDraft; readonly undo: UndoStep[] },
): Promise<SpawnResult> {
  const manager = lifecycleManager(deps);
  const createdAtMs = deps.clock.nowMs();
  request.onStep?.("creating worktree");
  const spec = workspaceSpec(deps, request, draft);
  const created = await deps.workspace.create(spec, await deps.workspace.plan(spec));
  undo.push(undoWorkspace(deps, spec, created));

  request.onStep?.("starting agent");
  const launch = { ...draft, workspacePath: created.path };
  undo.push(undoLaunch(deps, launch, dataLayout(deps.dataDir).launchDir(draft.sessionId)));
  const started = await deps.runtime.create(await prepareLaunch(deps, launch));
  undo.push(undoRuntime(deps, launch, started));

  const seed = seedRecord(request, launch, { created, started, createdAtMs });
  manager.onSpawnInitiated(seed);
  undo.push(undoRow(deps, seed.id));
  return { record: manager.onSpawnCompleted(seed.id, started), warnings: created.warnings };
}

function refuseBadText({ title, issueId, prompt }: SpawnRequest): void {
  if (title !== null) parseTitle(title);
  if (issueId !== null) parseIssueId(issueId);
  if (prompt !== null) parsePrompt(prompt);
}

function idOf({ prefix }: Project, number: number): SessionId {
  const id = parseSessionId(`${prefix}-${number}`);
  if (id !== undefined) return id;
  throw new AoError("usage", `${JSON.stringify(prefix)} cannot be the prefix of a session id`, {
    hint: "choose one of letters, digits, _ and -",
  });
}

/** Complete but for the number and the resolved workspace path, which are not taken before the checks. */
function draftLaunch(deps: SessionDeps, request: SpawnRequest): LaunchDraft {
  const { project, settings, issueId, model, permissions, configPath, agentArgs } = request;
  const agent = requireAgent(deps, request.agent);
  const sessionId = idOf(project, 1);
  return {
    ...{ agent, sessionId, issueId, model, permissions, configPath, agentArgs },
    resumes: false,
    projectId: project.id,
    launchId: deps.ids.launchId(),
    workspacePath: dataLayout(deps.dataDir).worktree(project.id, sessionId),
    agentSessionId: agent.capabilities.pinsSessionId ? deps.ids.uuid() : null,
    prompt: composePrompt(request.prompt, settings.agentRules),
    projectEnv: settings.env,
  };
}

function workspaceSpec(deps: SessionDeps, request: SpawnRequest, draft: LaunchDraft): WorkspaceSpec {
  const { project, settings, baseRef, issueId, title } = request;
  const { sessionId } = draft;
  return {
    projectId: project.id,
    sessionId,
    repositoryPath: project.repositoryPath,
    path: dataLayout(deps.dataDir).worktree(project.id, sessionId),
    branch: request.branch ?? deriveBranch({ issueId, title, sessionId }),
    baseRef,
    defaultBranch: project.defaultBranch,
    postCreate: settings.postCreate,
    env: launchEnvironment(deps, draft),
    operationId: null,
  };
}

function seedRecord(
  request: SpawnRequest,
  { sessionId, launchId, agentSessionId }: LaunchDraft,
  made: {
    readonly created: CreatedWorkspace;
    readonly started: StartedRuntime;
    readonly createdAtMs: number;
  },
): SessionRecord {
  const { project, issueId, kind, title, prompt, agent, agentArgs, model, permissions, configPath } = request;
  const { created, started, createdAtMs } = made;
  return {
    ...{ id: sessionId, projectId: project.id, issueId, kind, createdAtMs },
    updatedAtMs: createdAtMs,
    terminatedAtMs: null,
    lifecycle: initialLifecycle(),
    metadata: {
      ...{ title, prompt, agent, agentArgs, model, permissions, agentSessionId, launchId, configPath },
      repositoryPath: project.repositoryPath,
      branch: created.branch,
      baseRef: created.baseRef,
      baseCommit: created.baseCommit,
      workspacePath: created.path,
      workspaceFreedAtMs: null,
      runtime: started.handle,
      process: started.process,
      heard: null,
      killNote: null,
    },
  };
}
