import { join } from "node:path";
import { type Ao as OpenedAo, openAo } from "../../../src/compose.ts";
import { jsonMembers } from "../../../src/domain/canonical-json.ts";
import { AoError, isAoError } from "../../../src/domain/errors.ts";
import { acceptedConversation, forkStatus } from "../../../src/domain/fork.ts";
import { parseSessionId, parseTurnId } from "../../../src/domain/ids.ts";
import type { Operation } from "../../../src/domain/operation.ts";
import { forkConfigured } from "../../../src/lifecycle/configured-sessions.ts";
import { recoverOperations } from "../../../src/lifecycle/recovery/recover-operations.ts";
import type { Agent, ForkAnswer, ForkRequest } from "../../../src/ports/agent.ts";
import { type Ao, aoSandbox, FAULTY_AO } from "../../support/ao.ts";
import { expectSound } from "../../support/crash-traces.ts";
import { sendSchema, turnsSchema } from "../../support/json-schemas.ts";
import type { ForkAsk, ForkFixture, ForkOutcomeSeen, SeenFork, SessionForkDriver } from "./driver.ts";

const SOURCE = "shop-1";

/** Where the process of a fork died that the fixture has. */
const LEFT_AT = [
  ["recoverPrepared", "fork.frozen:after"],
  ["recoverDispatching", "fork.dispatch:after"],
  ["recoverProviderAccepted", "fork.accepted:after"],
] as const;

type Copy = (request: ForkRequest) => Promise<ForkAnswer>;

const ANSWERS: Readonly<Record<NonNullable<ForkFixture["agent"]>, Copy>> = {
  refuses: async () => ({ kind: "refused", why: "no" }),
  "breaks off": () => Promise.reject(new Error("it hung up")),
  "names its source": async ({ source: { agentSessionId } }) => {
    return { kind: "accepted", inheritedThrough: null, agentSessionId };
  },
};

/** git, SQLite, tmux and the embedded agent; dead processes are real ones, ended by SIGKILL. */
export function stackForkDriver(): SessionForkDriver {
  let ao: Ao;
  let repository = "";
  let turns: readonly string[] = [];
  let fixture: ForkFixture = {};
  let calls = 0;
  let failsCommit = false;

  function counting(agent: Agent): Agent {
    const { fork } = agent;
    if (fork?.kind !== "prefix") return agent;
    const copy: Copy = (request) => {
      calls += 1;
      return (fixture.agent === undefined ? fork.copy : ANSWERS[fixture.agent])(request);
    };
    return { ...agent, fork: { kind: "prefix", copy } };
  }

  async function boundary(name: string): Promise<void> {
    if (name !== "fork.commit:before" || !failsCommit) return;
    failsCommit = false;
    throw new AoError("store_busy", "locked");
  }

  async function opened<Result>(work: (opened: OpenedAo) => Promise<Result>): Promise<Result> {
    const plain = await openAo({ env: ao.env, cwd: repository, access: "create", command: "ao fork" });
    const agents = new Map([...plain.deps.agents].map(([name, agent]) => [name, counting(agent)]));
    try {
      return await work({ ...plain, deps: { ...plain.deps, agents, boundary } });
    } finally {
      plain.close();
    }
  }

  const ask = (host: OpenedAo, { requestId = "request-fork", title = null, turn = 2 }: ForkAsk) =>
    forkConfigured(host, idOf(SOURCE), {
      turnId: parseTurnId(turns[turn - 1] ?? "") ?? null,
      ...{ requestId, title, branch: null, prompt: null },
    });

  return {
    async reset(next) {
      ao = aoSandbox(FAULTY_AO);
      repository = ao.repository();
      fixture = next;
      calls = 0;
      await ao.spawn(repository, ["--title", "Task", "--prompt", "write a.txt 1"]);
      await ao.until(SOURCE, "idle");
      await ao.json(sendSchema, ["send", SOURCE], { input: "write a.txt 2" });
      await ao.until(SOURCE, "idle");
      if (next.keepSourceActive === true) {
        await ao.json(sendSchema, ["send", SOURCE], { input: "wait 60" });
      }
      await ao.run(["reconcile"]);
      const { data } = await ao.json(turnsSchema, ["turns", SOURCE]);
      turns = data.map(({ id }) => id).toReversed();
      failsCommit = next.failFirstLocalCommit === true;
      await leave(next);
    },
    async fork(asked = {}) {
      try {
        return await opened(async (host) => {
          const { operation } = await ask(host, asked);
          return { error: null, ...seen(host, operation) };
        });
      } catch (error) {
        return { error: isAoError(error) ? error.code : String(error) } satisfies ForkOutcomeSeen;
      }
    },
    operation: (requestId = "request-fork") =>
      opened(async (host) => {
        const found = forksIn(host).find(({ subject }) => subject === requestId);
        return found === undefined ? undefined : seen(host, found);
      }),
    recover: () =>
      opened(async ({ deps }) => (await recoverOperations(deps)).errors.map(({ message }) => message)),
    metrics: async () => ({ agentForkCalls: calls }),
    async traces() {
      await ao.run(["reconcile"]);
      const { rows } = expectSound(ao, repository);
      return { sessions: rows.filter(({ metadata }) => metadata.fork !== undefined).length, orphans: [] };
    },
  };

  async function leave(next: ForkFixture): Promise<void> {
    const left = LEFT_AT.find(([fault]) => next[fault] === true);
    if (left === undefined) return;
    const argv = ["fork", SOURCE, "--at", turns[1] ?? "", "--request-id", "request-fork"];
    const env = { AO_FAULT_AT: left[1], AO_FAULT_LOG: join(ao.root, "boundaries") };
    const { exitCode } = await ao.run(argv, { cwd: repository, env });
    if (exitCode !== null) throw new Error(`a fork does not cross ${left[1]}`);
    if (next.recoverPermanentlyInconsistent === true) await opened(async (host) => spoilSnapshot(host));
  }
}

function idOf(text: string) {
  const id = parseSessionId(text);
  if (id === undefined) throw new Error(`not a session id: ${text}`);
  return id;
}

function forksIn({ deps }: OpenedAo): readonly Operation[] {
  const ids = [1, 2, 3, 4, 5, 6].map((number) => idOf(`shop-${number}`));
  const all = ids.flatMap((id) => deps.operations.ofSession(id, 10).operations);
  return all.filter(({ kind }) => kind === "fork");
}

function seen({ deps }: OpenedAo, operation: Operation): SeenFork {
  const { sessionId: id } = operation;
  return {
    status: forkStatus(operation),
    sessionId: id !== null && deps.store.get(id) !== undefined ? id : null,
    agentSessionId: acceptedConversation(operation),
  };
}

/** What was frozen is no longer what its hash says. */
function spoilSnapshot({ deps }: OpenedAo): void {
  const [left] = deps.operations.unfinished().operations;
  if (left === undefined) throw new Error("no fork was left");
  const progress = { ...jsonMembers(left.progress), hash: "another" };
  if (!deps.operations.save({ ...left, progress, version: left.version + 1 }, left.version)) {
    throw new Error("the fork was not spoilt");
  }
}
