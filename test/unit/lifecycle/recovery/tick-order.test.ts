import { expect, test } from "vitest";
import type { SessionId } from "../../../../src/domain/ids.ts";
import type { Turn } from "../../../../src/domain/turn.ts";
import { cancelTurn } from "../../../../src/lifecycle/cancel/cancel-turn.ts";
import type { SessionDeps } from "../../../../src/lifecycle/deps.ts";
import { acceptMessage } from "../../../../src/lifecycle/messages/accept-message.ts";
import { observeSessions } from "../../../../src/lifecycle/observe/observe-sessions.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import { recordTurnTransition } from "../../../../src/lifecycle/turns/record-turn-transition.ts";
import { sessionId } from "../../../support/builders.ts";
import { aTransition, turnId } from "../../../support/turns.ts";
import { aWorld, type World } from "../../../support/world.ts";

const [CANCELLED, LOST, RESTING] = [sessionId("app-1"), sessionId("app-2"), sessionId("app-3")];

/** The calls of ports by which the order of a tick can be told, beside those that a world writes down itself. */
function watched({ deps, log }: World): SessionDeps {
  const { inbox, turns, runtime, workspace } = deps;
  return {
    ...deps,
    inbox: {
      ...inbox,
      pending: () => noting(log, "inbox.pending", () => inbox.pending()),
      remove: (ids) => noting(log, "inbox.remove", () => inbox.remove(ids)),
      tidy: (nowMs) => noting(log, "inbox.tidy", () => inbox.tidy(nowMs)),
    },
    turns: {
      ...turns,
      save: (turn, version) =>
        noting(log, `turns.save ${turn.sessionId} ${phaseOf(turn)}`, () => turns.save(turn, version)),
    },
    runtime: { ...runtime, marked: () => noting(log, "runtime.marked", () => runtime.marked()) },
    workspace: {
      ...workspace,
      sweepTrash: () => noting(log, "workspace.sweepTrash", () => workspace.sweepTrash()),
    },
  };
}

function noting<Value>(log: string[], line: string, call: () => Value): Value {
  log.push(line);
  return call();
}

function phaseOf({ state }: Turn): string {
  return state.kind === "settled" ? state.outcome : state.kind;
}

/** A running turn of a session. */
function running({ deps, row }: World, id: SessionId): void {
  const { launchId } = row(id).metadata;
  const birth = { launchId };
  recordTurnTransition(deps, aTransition({ sessionId: id, occurredAtMs: deps.clock.nowMs(), birth }));
}

/** One session dies while its turn is being cancelled, one in its turn, and one rests and has a message waiting. */
async function aBusyWorld(): Promise<World> {
  const world = aWorld();
  for (const _each of [CANCELLED, LOST, RESTING]) await world.spawn({ issueId: null, prompt: null });
  for (const id of [CANCELLED, LOST]) running(world, id);
  world.agent.answerCancels(
    { kind: "delivery_unconfirmed", detail: "no evidence" },
    { kind: "state_lost", detail: "gone" },
  );
  await cancelTurn(world.deps, CANCELLED, { turnId: turnId(), reason: "user_requested" });
  await world.hear(RESTING, "ready");
  await observeSessions(world.deps);
  await acceptMessage(world.deps, RESTING, { text: "hello", requestId: null });
  const dead = { runtime: { kind: "missing" }, process: { kind: "dead" } } as const;
  for (const id of [CANCELLED, LOST]) world.runtime.setLook(id, dead);
  world.clock.advance(120_000);
  await world.hear(RESTING, "ready");
  return world;
}

test("a tick cancels before it settles what ended, looks once at all that live, then delivers, tidies and sweeps", async () => {
  const world = await aBusyWorld();
  world.clearLog();
  const launches = [CANCELLED, LOST].map((id) => `/data/launch/${id}/${world.row(id).metadata.launchId}`);
  const { errors } = await reconcile(watched(world));
  expect(errors).toEqual([]);
  const story = world.log.filter((line) => !line.startsWith("store."));
  // Each call where it was made first.
  expect([...new Set(story)]).toEqual([
    ...["inbox.pending", "inbox.remove", `turns.save ${CANCELLED} failed`],
    ...[`runtime.look ${CANCELLED} ${LOST} ${RESTING}`, `turns.save ${LOST} interrupted`],
    ...launches.map((folder) => `files.removeTree ${folder}`),
    ...[`runtime.look ${RESTING}`, `messenger.send ${RESTING}`, `turns.save ${RESTING} running`],
    ...["inbox.tidy", "workspace.sweepTrash"],
  ]);
});
