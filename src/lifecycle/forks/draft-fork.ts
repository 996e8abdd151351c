import { dataLayout } from "../../domain/data-layout.ts";
import { AoError } from "../../domain/errors.ts";
import { forkTitle } from "../../domain/fork.ts";
import { parseSessionId, type SessionId } from "../../domain/ids.ts";
import { initialLifecycle } from "../../domain/lifecycle.ts";
import type { SessionRecord } from "../../domain/session.ts";
import type { Agent } from "../../ports/agent.ts";
import type { SessionDeps } from "../deps.ts";
import { agentHome } from "../launch-agent.ts";
import type { ForkPoint } from "./fork-point.ts";
import type { ForkProgress } from "./fork-progress.ts";
import type { ForkRequest } from "./fork-request.ts";
import { partName } from "./inherited-parts.ts";

interface Drafting {
  readonly source: SessionRecord;
  readonly request: ForkRequest;
}

/**
 * A fork as it is to be put on record, with a number of its own.
 *
 * @throws AoError internal
 */
export function draftFork(deps: SessionDeps, { source, request }: Drafting, point: ForkPoint): ForkProgress {
  const { owner, turn, checkpoint, head, messages, conversation, agent } = point;
  const { projectId, metadata } = source;
  const id = newId(deps, source);
  const own = { name: partName(deps, owner.id, messages), count: messages.length, digest: "" };
  const { fork: _fork, exit: _exit, launchedAtMs: _launched, salvageRef: _salvage, ...kept } = metadata;
  const nowMs = deps.clock.nowMs();
  const path = dataLayout(deps.dataDir).worktree(projectId, id);
  const env = { ...deps.callerEnv, ...request.settings.env };
  const seed: SessionRecord = {
    ...{ id, projectId, issueId: source.issueId, kind: source.kind, createdAtMs: nowMs, updatedAtMs: nowMs },
    terminatedAtMs: null,
    lifecycle: initialLifecycle(),
    metadata: {
      ...kept,
      ...{ title: request.title ?? titleIn(deps, source), launchId: deps.ids.launchId() },
      ...{ agentSessionId: newConversation(deps, agent), agentHome: agentHome(agent, env, path) },
      ...{ previousAgentSessionIds: [], workspaceFreedAtMs: null, runtime: null, process: null },
      ...{ heard: null, killNote: null },
    },
  };
  const { repositoryPath } = metadata;
  return {
    ...{ phase: "prepared", hash: null, keptBefore: null, plan: null, created: null, accepted: null },
    ref: { projectId, sessionId: id, repositoryPath, path },
    frozen: {
      ...{ turnOf: owner.id, turnId: turn.turnId, checkpoint: { ...checkpoint, head }, conversation, seed },
      inherits: [...(owner.metadata.fork?.inherits ?? []), own],
      settings: { environmentId: deps.ids.uuid(), postCreate: request.settings.postCreate },
    },
  };
}

function newId({ store }: SessionDeps, { id, projectId }: SessionRecord): SessionId {
  const prefix = store.project(projectId)?.prefix ?? id.slice(0, id.lastIndexOf("-"));
  const next = parseSessionId(`${prefix}-${store.allocateSessionNumber(prefix)}`);
  if (next !== undefined) return next;
  throw new AoError("internal", `${JSON.stringify(prefix)} cannot be the prefix of a session id`);
}

/** A copy gets the id that it is told; another way of forking pins one as a launch does. */
function newConversation({ ids }: SessionDeps, { fork, capabilities }: Agent): string | null {
  return fork?.kind === "prefix" || capabilities.pinsSessionId ? ids.uuid() : null;
}

function titleIn({ store }: SessionDeps, source: SessionRecord): string | null {
  const rows = new Map(store.rows().sessions.map((record) => [record.id, record]));
  const rootOf = (record: SessionRecord): SessionRecord => {
    let root = record;
    for (let hops = 0; hops < rows.size; hops += 1) {
      const parent = root.metadata.fork && rows.get(root.metadata.fork.parentId);
      if (parent === undefined) return root;
      root = parent;
    }
    return root;
  };
  const root = rootOf(source);
  const family = [...rows.values()].filter(
    (record) => record.id !== root.id && rootOf(record).id === root.id,
  );
  return forkTitle(root.metadata.title, family.length);
}
