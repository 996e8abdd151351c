import fc from "fast-check";
import { expect, test } from "vitest";
import type { RuntimeObservation } from "../../../../src/domain/facts.ts";
import type { SessionId } from "../../../../src/domain/ids.ts";
import { FINDING_KINDS, type FindingKind } from "../../../../src/domain/workspace-finding.ts";
import {
  type CleanupOptions,
  type CleanupResult,
  cleanupSessions,
} from "../../../../src/lifecycle/cleanup/cleanup-sessions.ts";
import { operationLedger } from "../../../../src/lifecycle/operations/ledger.ts";
import { projectId, sessionId } from "../../../support/builders.ts";
import { aWorld, type World } from "../../../support/world.ts";

const OPTIONS = { projectId: null, dryRun: false, olderThanMs: null };
const pathOf = (id: string) => `/data/worktrees/app/${id}`;
const LOOKS: readonly RuntimeObservation[] = [
  { runtime: { kind: "missing" }, process: { kind: "dead" } },
  { runtime: { kind: "missing" }, process: { kind: "alive" } },
  { runtime: { kind: "unknown" }, process: { kind: "indeterminate" } },
];

interface Situation {
  readonly findings: readonly FindingKind[];
  readonly look: number;
  readonly place: "there" | "missing" | "another's" | "in a live session's";
  readonly isBusy: boolean;
  readonly isMerged: boolean;
}

const situation: fc.Arbitrary<Situation> = fc.record({
  findings: fc.oneof(
    fc.constant([]),
    fc.array(fc.constantFrom(...FINDING_KINDS.filter((kind) => kind !== "missing")), { maxLength: 2 }),
  ),
  look: fc.constantFrom(0, 0, 0, 1, 2),
  place: fc.constantFrom("there", "there", "missing", "another's", "in a live session's"),
  isBusy: fc.boolean(),
  isMerged: fc.boolean(),
});

async function worldOf(situations: readonly Situation[]): Promise<World> {
  const world = aWorld();
  await world.spawn({ issueId: "live" });
  for (const [at, one] of situations.entries()) {
    const { id } = await world.spawn({ issueId: `${at}` });
    await endKept(world, id);
    bringAbout(world, id, one);
  }
  return world;
}

async function endKept({ workspace, kill }: World, id: SessionId): Promise<void> {
  workspace.refuse(pathOf(id));
  await kill(id).catch(() => undefined);
  workspace.allow(pathOf(id));
}

function bringAbout(
  world: World,
  id: SessionId,
  { findings, look, place, isBusy, isMerged }: Situation,
): void {
  const seen = LOOKS[look];
  if (seen !== undefined) world.runtime.setLook(id, seen);
  const kept = findings.map((kind) => ({ kind, detail: `1 ${kind}`, items: [], count: 1 }));
  if (kept.length > 0) {
    world.snapshots.work.write(pathOf(id), "notes.txt", "mine");
    world.workspace.refuse(pathOf(id), kept);
  }
  if (place === "missing") world.workspace.vanish(pathOf(id));
  if (place === "in a live session's") moveTo(world, id, pathOf("app-1"));
  if (place === "another's") moveTo(world, id, pathOf("app-2"));
  if (isMerged) world.workspace.mergeBranch("/repo/app", world.row(id).metadata.branch);
  if (isBusy) holdUp(world, id);
}

function moveTo({ deps, row }: World, id: string, workspacePath: string): void {
  const stored = row(sessionId(id));
  deps.store.save({ ...stored, metadata: { ...stored.metadata, workspacePath } }, stored.lifecycle.revision);
}

function holdUp({ deps, processes }: World, id: string): void {
  const self = { process: processes.add({ command: "ao" }), command: "ao restore" };
  operationLedger({ ...deps, self }).begin({
    ...{ kind: "restore", projectId: projectId("app"), sessionId: sessionId(id) },
    ...{ identifyingSessionId: sessionId(id), subject: `other ${id}`, input: null, progress: null },
  });
}

/** Only a run can tell where it has kept something. */
function told({ cleaned, skipped, errors }: CleanupResult) {
  return { cleaned: cleaned.map((one) => ({ ...one, salvageRef: null })), skipped, errors };
}

test("whatever is found, a dry run changes nothing and tells exactly what the run does", async () => {
  const rules = fc.record({
    salvage: fc.boolean(),
    olderThanMs: fc.constantFrom(null, 1, 0),
    deleteMergedBranches: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(situation, { maxLength: 4 }), rules, async (situations, rule) => {
      const world = await worldOf(situations);
      const before = world.deps.store.list();
      const options = { ...OPTIONS, ...rule };
      const dry = await cleanupSessions(world.deps, { ...options, dryRun: true });
      expect(world.deps.store.list()).toEqual(before);
      const run = await cleanupSessions(world.deps, options);
      expect(told(run)).toEqual(told(dry));
      const branches = world.workspace.branches("/repo/app");
      expect(run.cleaned.filter(({ branchDeleted }) => branches.includes(`${branchDeleted}`))).toEqual([]);
      const isFreed = (id: string) => world.row(sessionId(id)).metadata.workspaceFreedAtMs !== null;
      const freed = world.deps.store.list().filter(({ id }) => isFreed(id));
      expect(freed.map(({ id }) => id).toSorted()).toEqual(run.cleaned.map(({ id }) => id).toSorted());
    }),
    { numRuns: 60 },
  );
});

test.each<[string, string, (world: World) => void]>([
  [
    "its agent is seen again",
    "in_use",
    ({ runtime }) => runtime.setLook(sessionId("app-2"), LOOKS[1] ?? alive()),
  ],
  [
    "it cannot be seen any more",
    "unknown",
    ({ runtime }) => runtime.setLook(sessionId("app-2"), LOOKS[2] ?? alive()),
  ],
  ["somebody works in it", "untracked", ({ workspace }) => workspace.refuse(pathOf("app-2"))],
  ["somebody moves it away", "no_workspace", ({ workspace }) => workspace.vanish(pathOf("app-2"))],
  ["a live session gets its worktree", "shared", (world) => moveTo(world, "app-3", pathOf("app-2"))],
  ["another command takes it up", "operation_in_progress", (world) => holdUp(world, "app-2")],
])("what changes after the plan is skipped with its reason: %s", async (_what, reason, change) => {
  const world = aWorld();
  for (const issueId of ["1", "2", "3"]) {
    const { id } = await world.spawn({ issueId });
    if (issueId !== "3") await endKept(world, id);
  }
  const isTurnOf = (step: string) => step === "freeing 2/2 app-2";
  const options: CleanupOptions = { ...OPTIONS, onStep: (step) => isTurnOf(step) && change(world) };
  const { cleaned, skipped, errors } = await cleanupSessions(world.deps, options);
  expect({ cleaned, skipped, errors }).toMatchObject({
    cleaned: [{ id: "app-1" }],
    skipped: [{ id: "app-2", reason }],
    errors: [],
  });
  expect(world.row(sessionId("app-2")).metadata.workspaceFreedAtMs).toBeNull();
});

function alive(): RuntimeObservation {
  return { runtime: { kind: "missing" }, process: { kind: "alive" } };
}
