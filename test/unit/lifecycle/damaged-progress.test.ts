import { describe, expect, test } from "vitest";
import { type JsonValue, jsonMembers } from "../../../src/domain/canonical-json.ts";
import type { Operation } from "../../../src/domain/operation.ts";
import type { SessionDeps } from "../../../src/lifecycle/deps.ts";
import { killSession } from "../../../src/lifecycle/kill/kill-session.ts";
import { reconcile } from "../../../src/lifecycle/recovery/reconcile.ts";
import { restoreSession } from "../../../src/lifecycle/restore/restore-session.ts";
import { spawnSession } from "../../../src/lifecycle/spawn/spawn-session.ts";
import { sessionId } from "../../support/builders.ts";
import { inProcess } from "../../support/crashing.ts";
import { aSpawnRequest, aWorld, type World } from "../../support/world.ts";

const ID = sessionId("app-1");

/** The same with the part at `path` replaced. */
function damaged(json: JsonValue, path: readonly string[], part: JsonValue): JsonValue {
  const [name, ...rest] = path;
  if (name === undefined) return part;
  const members = jsonMembers(json) ?? {};
  return { ...members, [name]: damaged(members[name] ?? null, rest, part) };
}

function damage({ deps }: World, path: string, part: JsonValue): void {
  const [operation] = deps.operations.unfinished().operations;
  if (operation === undefined) throw new Error("nothing is under way");
  const next = { ...operation, version: operation.version + 1 };
  const progress = damaged(operation.progress, path.split("."), part);
  expect(deps.operations.save({ ...next, progress }, operation.version)).toBe(true);
}

async function crashed(world: World, at: string, work: (deps: SessionDeps) => Promise<unknown>) {
  const dying = { ...world.deps, self: { process: world.processes.add({ command: "ao" }), command: "ao" } };
  const stuck = new Promise<void>(() => undefined);
  let isThere = false;
  const boundary = async (name: string) => {
    if (name !== at) return;
    isThere = true;
    await stuck;
  };
  void work({ ...dying, boundary });
  await expect.poll(() => isThere).toBe(true);
  world.processes.kill(dying.self.process.pid);
}

async function expectIsolated(world: World, kind: string, path: string): Promise<void> {
  const before = [
    world.runtime.sessions(),
    world.workspace.exists("/data/worktrees/app/app-1"),
    world.files.paths(),
  ];
  const { ending } = await inProcess(world, {}, reconcile);
  const flaw = expect.stringContaining(`(progress.${path})`);
  expect(ending).toMatchObject({
    kind: "done",
    result: { errors: [{ subject: `${kind} of app-1`, code: "store_corrupt", message: flaw }], orphans: [] },
  });
  expect([
    world.runtime.sessions(),
    world.workspace.exists("/data/worktrees/app/app-1"),
    world.files.paths(),
  ]).toEqual(before);
}

const PARTS: readonly (readonly [string, JsonValue])[] = [
  ["ref", 7],
  ["ref.projectId", "../x"],
  ["ref.sessionId", "nobody"],
  ["ref.repositoryPath", "relative"],
  ["ref.path", null],
  ["plan.path", ""],
  ["plan.branchExists", "no"],
  ["plan.branch", 1],
  ["plan.baseCommit", null],
  ["created.path", "relative"],
  ["created.branchCreated", 1],
];

/** A damaged object is told by its first part. */
const firstFlaw = (path: string) => (path === "ref" ? "ref.projectId" : path);

describe("an operation whose progress is damaged is told, and nothing is done with it:", () => {
  test.each([
    ...PARTS,
    ["seed.id", "nobody"],
    ["seed.projectId", null],
    ["seed.metadata.launchId", "../../etc"],
    ["seed.metadata.workspacePath", "relative"],
    ["seed.lifecycle", null],
  ] as const)("%s of a spawn (%j)", async (path, part) => {
    const world = aWorld();
    const spawn = (deps: SessionDeps) => spawnSession(deps, aSpawnRequest(world.project));
    await crashed(world, "spawn.ready:after", spawn);
    damage(world, path, part);
    await expectIsolated(
      world,
      "spawn",
      path === "seed.lifecycle" ? "seed.lifecycle.session.state" : firstFlaw(path),
    );
  });

  test.each([...PARTS, ["launchId", "../../etc"], ["agentSessionId", 1]] as const)(
    "%s of a restore (%j)",
    async (path, part) => {
      const world = aWorld();
      await world.spawn();
      await world.kill(ID);
      const choice = { fresh: false, settings: world.settings };
      await crashed(world, "restore.ready:after", (deps) => restoreSession(deps, ID, choice));
      damage(world, path, part);
      await expectIsolated(world, "restore", firstFlaw(path));
    },
  );
});

test.each([
  ["id", "nobody"],
  ["workspaceFreed", "yes"],
  ["alreadyTerminated", null],
  ["workspacePath", 7],
] as const)("a kill that was carried out and whose result is damaged is told: %s", async (path, part) => {
  const world = aWorld();
  await world.spawn();
  const order = { reason: "manual", note: null, keepWorktree: true, callerSessionId: null } as const;
  const kill = (deps: SessionDeps) => killSession(deps, ID, { ...order, requestId: "request-1" });
  await kill(world.deps);
  const spoilt = (operation: Operation | undefined) =>
    operation?.state.kind === "completed"
      ? { ...operation, state: { ...operation.state, result: damaged(operation.state.result, [path], part) } }
      : operation;
  const operations: typeof world.deps.operations = {
    ...world.deps.operations,
    get: (id) => spoilt(world.deps.operations.get(id)),
  };
  await expect(kill({ ...world.deps, operations })).rejects.toMatchObject({
    code: "store_corrupt",
    message: expect.stringContaining(`(state.result.${path})`),
  });
});
