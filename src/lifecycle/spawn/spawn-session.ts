import { toJson } from "../../domain/canonical-json.ts";
import { dataLayout } from "../../domain/data-layout.ts";
import { AoError } from "../../domain/errors.ts";
import { parseSessionId, type SessionId } from "../../domain/ids.ts";
import { initialLifecycle } from "../../domain/lifecycle.ts";
import { deriveBranch } from "../../domain/names.ts";
import type { LeasedOperation } from "../../domain/operation.ts";
import type { Project } from "../../domain/project.ts";
import { composePrompt } from "../../domain/prompt.ts";
import type { SessionRecord } from "../../domain/session.ts";
import { parseIssueId, parsePrompt, parseTitle } from "../../domain/user-text.ts";
import type { StartedRuntime } from "../../ports/runtime.ts";
import type { CreatedWorkspace, WorkspacePlan, WorkspaceSpec } from "../../ports/workspace.ts";
import type { SessionDeps } from "../deps.ts";
import {
  agentHome,
  checkLaunch,
  type LaunchDraft,
  launchEnvironment,
  openingOf,
  prepareLaunch,
  requireAgent,
} from "../launch-agent.ts";
import { withFirstPrompt } from "../messages/first-prompt.ts";
import { type Busy, beginOnce, obstacleTo, type Repeat } from "../operations/begin-once.ts";
import { carryOut } from "../operations/carry-out.ts";
import { crossing } from "../operations/crossing.ts";
import { fenceOf } from "../operations/fence-of.ts";
import { operationLedger } from "../operations/ledger.ts";
import { operationInProgress } from "../operations/operation-errors.ts";
import { warningsIn } from "../operations/progress-members.ts";
import { requireRegistered, undoRegistration } from "../projects/project-registration.ts";
import { recoverOperations } from "../recovery/recover-operations.ts";
import { requireSession } from "../session-refs.ts";
import { onceStarted, startRuntime } from "../start-runtime.ts";
import { namingLeft } from "../steps-left.ts";
import type { UndoStep } from "../undo.ts";
import { newConversationOf, undoLaunch, undoRow, undoWorkspace } from "../undo-steps.ts";
import { tellingOfOthers } from "./others-branch.ts";
import type { SpawnProgress } from "./spawn-progress.ts";
import { type SpawnRequest, spawnIntent } from "./spawn-request.ts";
import { completeSpawned, seedSpawned } from "./spawn-steps.ts";
import { sayingUnmade } from "./unmade-session.ts";

export interface SpawnResult {
  readonly record: SessionRecord;
  /** Things a person should know that were no failure. */
  readonly warnings: readonly string[];
}

/** What the steps of one spawn work with. */
interface Spawn {
  readonly request: SpawnRequest;
  readonly held: LeasedOperation;
  readonly draft: LaunchDraft;
  readonly undo: UndoStep[];
}

/**
 * Makes a session: worktree, then runtime with the agent, then the row. A step that fails takes the
 * earlier ones back at once; what could not be taken back is in `details.left` of the first error. What a
 * process that dies has done is finished or taken back by whoever comes next.
 *
 * @throws AoError usage, agent_not_found, agent_unavailable, runtime_unavailable, git_unavailable before any
 *   side effect.
 * @throws AoError request_conflict, operation_in_progress for a request id that was or is used.
 * @throws AoError project_exists when the project to be registered is no more new, project_not_found when the other
 *   one is no more registered; nothing was changed.
 * @throws AoError as `Workspace.plan`, `Workspace.create` and `Runtime.create`.
 */
export async function spawnSession(deps: SessionDeps, request: SpawnRequest): Promise<SpawnResult> {
  refuseBadText(request);
  await recoverOperations(deps);
  const intent = spawnIntent(deps, request);
  const earlier = obstacleTo(deps, intent);
  if (earlier !== null) return earlierSpawn(deps, earlier);
  const draft = await checkSpawn(deps, request);
  const { prefix } = request.project;
  const number = request.numberOf?.(prefix) ?? deps.store.allocateSessionNumber(prefix);
  const sessionId = idOf(request.project, number);
  const begun = await beginOnce(deps, { ...intent, sessionId }, (store) => requireRegistered(store, request));
  if (begun.kind !== "begun") return earlierSpawn(deps, begun);
  const held = begun.operation;
  const made = await carryOut(deps, held, (undo) => {
    undo.push(...undoRegistration(deps, held));
    return make(deps, { request, held, draft: { ...draft, sessionId }, undo });
  }).catch((error: unknown) => {
    throw sayingUnmade(deps, error, sessionId);
  });
  return withFirstPrompt(deps, made);
}

/**
 * Finds out what can be found out before there is anything to take back: the start of every spawn.
 *
 * @throws AoError as `spawnSession` before any side effect.
 */
export async function checkSpawn(deps: SessionDeps, request: SpawnRequest): Promise<LaunchDraft> {
  refuseBadText(request);
  const draft = draftLaunch(deps, request);
  await checkLaunch(deps, draft);
  return draft;
}

/** The session that the same request made before. */
function earlierSpawn(deps: SessionDeps, earlier: Busy | Repeat): SpawnResult {
  if (earlier.kind === "busy") throw operationInProgress(earlier.operation);
  const { sessionId, state } = earlier.operation;
  if (sessionId === null) throw operationInProgress(earlier.operation);
  return { record: requireSession(deps, sessionId), warnings: warningsIn(state.result) };
}

async function make(deps: SessionDeps, spawn: Spawn): Promise<SpawnResult> {
  const { request, held, draft, undo } = spawn;
  const ledger = operationLedger(deps);
  request.onStep?.("creating worktree");
  const spec = workspaceSpec(deps, request, { draft, held });
  const { branch, issueId, project } = request;
  const asked = { branch, issueId, repositoryPath: project.repositoryPath };
  const plan = tellingOfOthers(deps, asked, await deps.workspace.plan(spec));
  const seeded = planProgress(request, draft, { spec, plan, nowMs: deps.clock.nowMs() });
  const planned = { ...seeded, ...openingOf(draft) };
  await crossing(deps, "spawn.planned", () => ledger.checkpoint(held, toJson(planned)));
  const created = await crossing(deps, "spawn.workspace.create", async () => {
    const making = () => deps.workspace.create(spec, plan);
    const made = await namingLeft(undo, { what: "worktree", where: plan.path }, making);
    const newConversation = newConversationOf(draft.agent.name, draft.agentSessionId);
    undo.push(undoWorkspace(deps, planned.ref, { created: made, newConversation }));
    return made;
  });
  const progress = { ...planned, created };
  await crossing(deps, "spawn.created", () => ledger.checkpoint(held, toJson(progress)));

  const started = await start(deps, spawn, progress);
  const record = await onceStarted(async () => {
    await seedSpawned(deps, held, { progress, started });
    undo.push(undoRow(deps, draft.sessionId));
    return completeSpawned(deps, held, { progress, started });
  });
  return { record, warnings: created.warnings };
}

async function start(
  deps: SessionDeps,
  { request, held, draft, undo }: Spawn,
  progress: SpawnProgress & { readonly created: CreatedWorkspace },
): Promise<StartedRuntime> {
  request.onStep?.("starting agent");
  const launch = { ...draft, workspacePath: progress.created.path };
  undo.push(undoLaunch(deps, launch));
  const spec = await crossing(deps, "spawn.launch.files", () =>
    prepareLaunch(deps, launch, fenceOf(deps, held)),
  );
  const ready = () => operationLedger(deps).checkpoint(held, toJson(progress));
  await crossing(deps, "spawn.ready", ready);
  return startRuntime(deps, spec, { held, undo, boundary: "spawn.runtime.create" });
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

function workspaceSpec(
  deps: SessionDeps,
  request: SpawnRequest,
  { draft, held }: Pick<Spawn, "draft" | "held">,
): WorkspaceSpec {
  const { project, settings, baseRef, issueId, title } = request;
  const { sessionId } = draft;
  const derived = deriveBranch({ issueId, title, sessionId });
  return {
    ...{ projectId: project.id, sessionId, repositoryPath: project.repositoryPath },
    path: dataLayout(deps.dataDir).worktree(project.id, sessionId),
    branch: request.branch ?? derived,
    branchIsMadeUp:
      request.branch === null && derived === deriveBranch({ issueId: null, title: null, sessionId }),
    baseRef,
    defaultBranch: project.defaultBranch,
    postCreate: settings.postCreate,
    env: launchEnvironment(deps, draft),
    operationId: held.id,
    mayBeSpare: (settings.pool ?? 0) > 0,
    fence: fenceOf(deps, held),
  };
}

function planProgress(
  request: SpawnRequest,
  { agent: adapter, sessionId, launchId, agentSessionId }: LaunchDraft,
  {
    spec,
    plan,
    nowMs,
  }: { readonly spec: WorkspaceSpec; readonly plan: WorkspacePlan; readonly nowMs: number },
): SpawnProgress {
  const { project, issueId, kind, title, agent, agentArgs, model, permissions, configPath } = request;
  const { projectId, repositoryPath, path } = spec;
  const seed: SessionRecord = {
    ...{ id: sessionId, projectId: project.id, issueId, kind, createdAtMs: nowMs, updatedAtMs: nowMs },
    terminatedAtMs: null,
    lifecycle: initialLifecycle(),
    metadata: {
      ...{ title, agent, agentArgs, model, permissions, agentSessionId, launchId, configPath },
      ...{ repositoryPath, branch: plan.branch, baseRef: plan.baseRef, baseCommit: plan.baseCommit },
      ...{ workspacePath: plan.path, workspaceFreedAtMs: null, heard: null, killNote: null },
      ...{ runtime: null, process: null, previousAgentSessionIds: [] },
      agentHome: agentHome(adapter, spec.env, plan.path),
    },
  };
  const registeredAtMs = request.registers?.createdAtMs ?? null;
  return { ref: { projectId, sessionId, repositoryPath, path }, plan, seed, created: null, registeredAtMs };
}
