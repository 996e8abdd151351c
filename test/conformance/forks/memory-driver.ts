import { said } from "../../../src/adapters/memory/agent.ts";
import { jsonMembers } from "../../../src/domain/canonical-json.ts";
import { AoError, isAoError } from "../../../src/domain/errors.ts";
import { acceptedConversation, forkStatus } from "../../../src/domain/fork.ts";
import type { SessionId } from "../../../src/domain/ids.ts";
import type { Operation } from "../../../src/domain/operation.ts";
import type { SessionDeps } from "../../../src/lifecycle/deps.ts";
import type { ForkRequest } from "../../../src/lifecycle/forks/fork-request.ts";
import { forkSession } from "../../../src/lifecycle/forks/fork-session.ts";
import { observeSessions } from "../../../src/lifecycle/observe/observe-sessions.ts";
import { recoverOperations } from "../../../src/lifecycle/recovery/recover-operations.ts";
import type { ForkRequest as AgentForkRequest, ForkAnswer } from "../../../src/ports/agent.ts";
import { sessionId } from "../../support/builders.ts";
import { inProcess } from "../../support/crashing.ts";
import { aWorld, type World, type WorldOptions } from "../../support/world.ts";
import type { ForkAsk, ForkFixture, ForkOutcomeSeen, SeenFork, SessionForkDriver } from "./driver.ts";

export const SOURCE = sessionId("app-1");
const PATH = "/data/worktrees/app/app-1";

/** One thing that was said to or by the agent of the source. */
async function tell(world: World, position: number, edge: "start" | "end"): Promise<void> {
  const id = world.row(SOURCE).metadata.agentSessionId ?? "";
  world.clock.advance(10);
  const [role, text] =
    edge === "start" ? (["user", `prompt ${position}`] as const) : (["assistant", "done"] as const);
  const entry = {
    position,
    after: position === 1 ? null : position - 1,
    role,
    text,
    atMs: position,
    edge,
    detail: {},
  };
  await world.hear(SOURCE, "said", { body: said(id, entry) });
  await observeSessions(world.deps, [SOURCE]);
}

/** A world whose checkpoints are kept, with a source of two turns that wrote a file each. */
export async function aSourceWorld(options: WorldOptions = {}): Promise<World> {
  const plain = aWorld(options);
  const world: World = { ...plain, deps: { ...plain.deps, checkpoints: plain.snapshots } };
  await world.spawn({ prompt: null, title: "task" });
  await observeSessions(world.deps);
  for (const turn of [1, 2]) {
    await tell(world, 2 * turn - 1, "start");
    world.snapshots.work.write(PATH, "notes.txt", `turn ${turn}\n`);
    await tell(world, 2 * turn, "end");
  }
  return world;
}

/** The ids of the source's turns, oldest first. */
export function turnsOf({ deps }: World) {
  return deps.turns
    .ofSession(SOURCE, 10)
    .turns.map(({ turnId }) => turnId)
    .reverse();
}

export function aForkRequest(world: World, overrides: Partial<ForkRequest> = {}): ForkRequest {
  const [, second = null] = turnsOf(world);
  return {
    ...{ turnId: second, branch: null, prompt: null, title: null, settings: world.settings },
    ...overrides,
  };
}

/** The host in memory, each call as a process of its own. */
export function memoryForkDriver(): SessionForkDriver {
  let world: World;
  let callsBefore = 0;

  async function act<Result>(
    work: (deps: SessionDeps) => Promise<Result>,
    crashAt?: string,
  ): Promise<Result | null> {
    const options = crashAt === undefined ? {} : { crashAtBoundary: crashAt };
    const { ending } = await inProcess(world, options, work);
    if (ending.kind === "done") return ending.result;
    if (ending.kind === "failed") throw ending.error;
    return null;
  }

  const fork = (deps: SessionDeps, { requestId = "request-fork", title = null, turn = 2 }: ForkAsk) => {
    const turnId = turnsOf(world)[turn - 1] ?? null;
    return forkSession(deps, SOURCE, aForkRequest(world, { requestId, title, turnId }));
  };

  async function leaveAt(boundary: string): Promise<void> {
    await act((deps) => fork(deps, {}), boundary);
    callsBefore = world.agent.forks.length;
  }

  return {
    async reset(fixture) {
      world = await aSourceWorld();
      callsBefore = 0;
      await prepare(fixture);
    },
    async fork(ask = {}) {
      try {
        const result = await act((deps) => fork(deps, ask));
        return { error: null, ...(result === null ? {} : seen(world, result.operation)) };
      } catch (error) {
        return { error: isAoError(error) ? error.code : String(error) } satisfies ForkOutcomeSeen;
      }
    },
    async operation(requestId = "request-fork") {
      const found = operationsOf(world).find(({ subject }) => subject === requestId);
      return found === undefined ? undefined : seen(world, found);
    },
    async recover() {
      const { errors } = (await act((deps) => recoverOperations(deps))) ?? { errors: [] };
      return errors.map(({ message }) => message);
    },
    metrics: async () => ({ agentForkCalls: world.agent.forks.length - callsBefore }),
    traces: () => tracesOf(world),
  };

  async function prepare(fixture: ForkFixture): Promise<void> {
    if (fixture.keepSourceActive === true) await tell(world, 5, "start");
    if (fixture.failFirstLocalCommit === true) {
      world.failNext("store.insert", new AoError("store_busy", "locked"));
    }
    const left = LEFT_AT.find(([fault]) => fixture[fault] === true);
    if (left !== undefined) await leaveAt(left[1]);
    if (fixture.recoverPermanentlyInconsistent === true) spoilSnapshot(world);
    if (fixture.agent !== undefined) world.agent.answerForks(ANSWERS[fixture.agent]);
  }
}

/** Where the process of a fork died that the fixture has. */
const LEFT_AT = [
  ["recoverPrepared", "fork.frozen:after"],
  ["recoverDispatching", "fork.dispatch:after"],
  ["recoverProviderAccepted", "fork.accepted:after"],
] as const;

type Answer = (request: AgentForkRequest) => Promise<ForkAnswer>;

const ANSWERS: Readonly<Record<NonNullable<ForkFixture["agent"]>, Answer>> = {
  refuses: async () => ({ kind: "refused", why: "no" }),
  "breaks off": () => Promise.reject(new Error("it hung up")),
  "names its source": async ({ source: { agentSessionId } }) => {
    return { kind: "accepted", inheritedThrough: null, agentSessionId };
  },
};

/** What was frozen is no longer what its hash says. */
function spoilSnapshot({ deps }: World): void {
  const [left] = deps.operations.unfinished().operations;
  if (left === undefined) throw new Error("no fork was left");
  const progress = { ...jsonMembers(left.progress), hash: "another" };
  deps.operations.save({ ...left, progress, version: left.version + 1 }, left.version);
}

/** All forks of a world. */
export function operationsOf({ deps }: World): readonly Operation[] {
  const ids = Array.from({ length: 20 }, (_, index) => sessionId(`app-${index + 1}`));
  return ids
    .flatMap((id) => deps.operations.ofSession(id, 10).operations)
    .filter(({ kind }) => kind === "fork");
}

function seen({ deps }: World, operation: Operation): SeenFork {
  const { sessionId: id } = operation;
  return {
    status: forkStatus(operation),
    sessionId: id !== null && deps.store.get(id) !== undefined ? id : null,
    agentSessionId: acceptedConversation(operation),
  };
}

/** Rows of forks, and what of forks no row has. */
export async function tracesOf(world: World) {
  const { deps, workspace, snapshots } = world;
  const forks = deps.store.list().filter(({ metadata }) => metadata.fork !== undefined);
  const isOurs = (id: SessionId) => id === SOURCE || forks.some((fork) => fork.id === id);
  const marked = await deps.workspace.marked();
  const runtimes = await deps.runtime.marked();
  const branches = deps.store.list().map(({ metadata }) => metadata.branch);
  const ids = Array.from({ length: 20 }, (_, index) => sessionId(`app-${index + 1}`)).filter(
    (id) => !isOurs(id),
  );
  const refs = await Promise.all(ids.map((id) => snapshots.checkpoints("/repo/app", id)));
  const salvages = await snapshots.list("/repo/app");
  return {
    sessions: forks.length,
    orphans: [
      ...marked.filter(({ ref }) => !isOurs(ref.sessionId)).map(({ ref }) => ref.path),
      ...runtimes.filter((runtime) => !isOurs(runtime.sessionId)).map(({ handle }) => handle.id),
      ...workspace.branches("/repo/app").filter((branch) => !branches.includes(branch)),
      ...refs.flat().map(({ ref }) => ref),
      ...salvages.map(({ ref }) => ref),
    ],
  };
}
