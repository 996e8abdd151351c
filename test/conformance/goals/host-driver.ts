import type { RuntimeObservation } from "../../../src/domain/facts.ts";
import { isSameGeneration } from "../../../src/domain/goal.ts";
import type { SessionId } from "../../../src/domain/ids.ts";
import { type Operation, parseOperationId } from "../../../src/domain/operation.ts";
import type { SessionDeps } from "../../../src/lifecycle/deps.ts";
import { controlGoal } from "../../../src/lifecycle/goals/control-goal.ts";
import { fenceGoal } from "../../../src/lifecycle/goals/fence-goal.ts";
import { prepareControl } from "../../../src/lifecycle/goals/prepare-control.ts";
import { type FenceRequest, prepareFence } from "../../../src/lifecycle/goals/prepare-fence.ts";
import { reconcile } from "../../../src/lifecycle/recovery/reconcile.ts";
import { recoverOperations } from "../../../src/lifecycle/recovery/recover-operations.ts";
import type { Agent } from "../../../src/ports/agent.ts";
import type { GoalAnswer, GoalOrder, GoalRuntime } from "../../../src/ports/goal-runtime.ts";
import type { RuntimeTarget } from "../../../src/ports/runtime.ts";
import type { GoalDriver, Metrics } from "./driver.ts";

/** What a look tells while nobody can look. */
function failedLook(targets: readonly RuntimeTarget[]): ReadonlyMap<SessionId, RuntimeObservation> {
  const failed = { kind: "probe_failed", cause: "no connection" } as const;
  return new Map(targets.map(({ sessionId }) => [sessionId, { runtime: failed, process: failed }]));
}

/** A host with one session, whose agent rests. */
export interface Host {
  readonly deps: SessionDeps;
  readonly id: SessionId;
  /** The name of its agent. */
  readonly agent: string;
  /** How its agent is given goals, before calls are counted. */
  readonly goals: (deps: SessionDeps) => GoalRuntime;
  /** Text that the agent is through with at once. */
  readonly quick: (objective: string) => string;
  /** Text that it works on until it is stopped. */
  readonly endless: string;
  /** Begins a turn of an order with an agent that goes on by itself. */
  readonly begin?: (deps: SessionDeps, operation: Operation) => void;
  /** Waits until the agent rests again after a turn. */
  readonly rest: (deps: SessionDeps) => Promise<void>;
  readonly lose: (deps: SessionDeps) => Promise<void>;
  readonly restore: (deps: SessionDeps) => Promise<void>;
  readonly wait: (ms: number) => Promise<void>;
}

const NO_CONTROL = { objective: null, maxTurns: null, until: null };

/** Counts what reaches the agent of a host, and lets it go wrong. */
export function hostDriver(host: Host): GoalDriver {
  const { id } = host;
  const counted = {
    controls: [] as Metrics["controls"][number][],
    fences: [] as Metrics["fences"][number][],
  };
  const typed: string[] = [];
  const resumes: (readonly string[])[] = [];
  let cancels = 0;
  let preloaded: readonly string[] = [];
  let fenceFault: "disconnected" | "error" | null = null;
  let controlFault: (() => Promise<GoalAnswer> | GoalAnswer) | null = null;
  let cancelFault: "disconnected" | null = null;
  let isBlind = false;
  let onFence: (() => Promise<void> | void) | null = null;

  const base = host.deps.agents.get(host.agent);
  if (base === undefined) throw new Error(`no agent ${host.agent}`);
  const goals = (): GoalRuntime => {
    const inner = host.goals(deps);
    return {
      ...inner,
      async control(order) {
        const { action, generation } = order;
        if (controlFault !== null) {
          counted.controls.push({ action, generation });
          await order.onDispatch();
          return controlFault();
        }
        const answer = await inner.control(order);
        if (answer.kind !== "waiting") counted.controls.push({ action, generation });
        return answer;
      },
      ...(inner.query && {
        async query(order: GoalOrder) {
          const { action, generation } = order;
          const answer = await inner.query?.(order);
          const isKnown = counted.controls.some((one) => isSameGeneration(one.generation, generation));
          // An order that waited in a queue has reached the agent by now.
          if (answer?.kind === "applied" && !isKnown) counted.controls.push({ action, generation });
          return answer ?? { kind: "waiting", why: "it cannot be asked" };
        },
      }),
      async fence(order) {
        counted.fences.push({ generation: order.generation, requireLive: order.requireLive });
        await onFence?.();
        if (fenceFault === "disconnected") return { kind: "disconnected", detail: "no connection" };
        if (fenceFault === "error") return { kind: "error", code: "refused", message: "runtime unavailable" };
        return inner.fence(order);
      },
    };
  };
  const agent: Agent = {
    ...base,
    get goal() {
      return goals();
    },
    cancel: {
      kind: "call",
      async cancelTurn(target) {
        cancels += 1;
        if (cancelFault !== null) return { kind: "disconnected", detail: "no connection" };
        return base.cancel?.kind === "call" ? base.cancel.cancelTurn(target) : press(target);
      },
    },
    resume(request) {
      preloaded = (request.goalFences ?? []).map(({ operationId }) => operationId);
      return base.resume(request);
    },
  };
  const press = async (target: Parameters<SessionDeps["messenger"]["press"]>[0]) => {
    await host.deps.messenger.press(target, base.cancel?.kind === "keys" ? base.cancel.keys : []);
    return { kind: "delivery_unconfirmed", detail: "keys were pressed" } as const;
  };
  const deps: SessionDeps = {
    ...host.deps,
    agents: new Map([...host.deps.agents, [host.agent, agent]]),
    messenger: {
      ...host.deps.messenger,
      async send(target, text) {
        typed.push(text);
        return host.deps.messenger.send(target, text);
      },
    },
    runtime: {
      ...host.deps.runtime,
      async look(targets) {
        return isBlind ? failedLook(targets) : host.deps.runtime.look(targets);
      },
      async survey(targets) {
        return isBlind ? { seen: failedLook(targets), marks: null } : host.deps.runtime.survey(targets);
      },
      async create(spec) {
        resumes.push(preloaded);
        return host.deps.runtime.create(spec);
      },
    },
  };
  const request = (part: Partial<FenceRequest>): FenceRequest => ({
    requestId: null,
    reason: "binding_revoked",
    ...part,
  });
  const operation = (text: string): Operation | undefined => {
    const known = parseOperationId(text);
    return known && deps.operations.get(known);
  };
  const must = (found: Operation | undefined): Operation => {
    if (found === undefined) throw new Error("there is no such operation");
    return found;
  };
  const plantSet = (objective: string): Operation => {
    const control = { ...NO_CONTROL, action: "set", objective, subject: deps.ids.uuid() } as const;
    const prepared = prepareControl(deps, id, control);
    if (prepared.kind !== "created") throw new Error(`the order was ${prepared.kind}`);
    return prepared.operation;
  };

  return {
    faults: {
      fence(answer) {
        fenceFault = answer;
      },
      control(answer) {
        controlFault = answer;
      },
      cancel(answer) {
        cancelFault = answer;
      },
      sight(isLost) {
        isBlind = isLost;
      },
      onFence(work) {
        onFence = work;
      },
    },
    control: (control, options) => controlGoal(deps, id, { ...NO_CONTROL, ...control }, options),
    async set(objective, options = {}) {
      const text = host.quick(objective);
      const result = await controlGoal(
        deps,
        id,
        { ...NO_CONTROL, action: "set", objective: text },
        { waitMs: 10_000, ...options },
      );
      if (result.settled) await host.rest(deps);
      return result;
    },
    fence: (part) => fenceGoal(deps, id, request(part)),
    plantSet: (objective) => plantSet(host.quick(objective)),
    plantFence: (part) => prepareFence(deps, id, request(part)),
    async runTurn() {
      const { operationId } = await controlGoal(
        deps,
        id,
        { ...NO_CONTROL, action: "set", objective: host.endless },
        { waitMs: 10_000 },
      );
      const running = must(operation(operationId));
      host.begin?.(deps, running);
      return running;
    },
    recover: async () => (await recoverOperations(deps)).errors,
    reconcile: () => reconcile(deps),
    lose: () => host.lose(deps),
    restore: () => host.restore(deps),
    state: () => deps.goals.state(id),
    operation,
    newestTurn: () => deps.turns.newest(id),
    wait: host.wait,
    metrics: () => ({ ...structuredClone(counted), cancels, resumes: [...resumes], typed: [...typed] }),
  };
}
