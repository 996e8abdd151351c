import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import * as z from "zod";
import { isTerminal } from "../../src/domain/lifecycle.ts";
import { type Ao, aoSandbox, FAULTY_AO, git, type Result } from "../support/ao.ts";
import type { Everything } from "../support/crash-traces.ts";
import {
  cleanupSchema,
  reconcileSchema,
  restoreSchema,
  spawnSchema,
  turnsSchema,
} from "../support/json-schemas.ts";

/** An agent that outlives the longest sweep. */
import { FORK_SCENARIO } from "./fork-scenario.ts";
import { ORPHAN_SCENARIO } from "./orphan-scenario.ts";

export const SHELL = ["--agent", "shell", "--", "sleep", "14400"];
/** The only commit of a branch that a person made. */
const KEPT = "somebody's own";
const WORK = "nobody else has this\n";

/** A repository with sessions, whose `ao` can be killed. */
export interface Place {
  readonly ao: Ao;
  readonly repository: string;
  /** A session at work that no command is about. */
  readonly neighbour: string;
}

/** The session that a command is about; its branch may be known before it has one. */
export interface Subject {
  readonly id: string | null;
  readonly branch: string;
  /** Never used before. */
  readonly requestId: string;
  /** The turn that it is about, if it is about one. */
  readonly turnId?: string;
}

/** A command that may be killed anywhere. */
export interface CrashScenario {
  readonly name: string;
  /** Makes the session that the command is about, if it is about one. */
  arrange(place: Place, subject: Subject): Promise<Subject>;
  argv(subject: Subject): readonly string[];
  /** With what `ao reconcile` sets it right; nothing more when not given. */
  readonly recovery?: readonly string[];
  /** What is true whatever became of the command, from its recovery on. */
  expectIntact?(place: Place, subject: Subject): void;
  /** What is true once the command was carried out, however often it was tried; `last` is its last result. */
  check(place: Place, subject: Subject, end: { readonly last: Result; readonly all: Everything }): void;
}

/** A place with a neighbour that has something to lose. */
export async function aPlace(): Promise<Place> {
  const ao = aoSandbox(FAULTY_AO);
  const repository = ao.repository();
  const neighbour = await ao.spawn(repository, ["--branch", "neighbour", ...SHELL]);
  const place = { ao, repository, neighbour };
  addWork(place, neighbour);
  return place;
}

export function expectNeighbourUnharmed(place: Place): void {
  expect(workOf(place, place.neighbour)).toBe(WORK);
}

export function worktreeOf({ ao }: Place, id: string): string {
  return join(ao.dataDir, "worktrees", "shop", id);
}

export function addWork(place: Place, id: string): void {
  writeFileSync(join(worktreeOf(place, id), "precious.txt"), WORK);
}

function workOf(place: Place, id: string): string {
  return readFileSync(join(worktreeOf(place, id), "precious.txt"), "utf8");
}

interface Arranged {
  readonly agent?: readonly string[];
  /** Whether it is over, and its worktree freed, kept, or freed with its work kept aside. */
  readonly killed?: "freed" | "kept" | "salvaged";
  readonly work?: boolean;
}

const KEEPING = { freed: [], kept: ["--keep-worktree"], salvaged: ["--salvage"] } as const;

/** A session on the subject's branch. */
export function spawned({ agent = SHELL, killed, work = false }: Arranged) {
  return async (place: Place, subject: Subject): Promise<Subject> => {
    const { ao, repository } = place;
    const session = await ao.json(spawnSchema, ["spawn", "--branch", subject.branch, ...agent], {
      cwd: repository,
    });
    if (work) addWork(place, session.id);
    if (killed !== undefined) {
      const keep = KEEPING[killed];
      const { exitCode } = await ao.run(["kill", session.id, ...keep]);
      expect(exitCode).toBe(0);
    }
    return { ...subject, id: session.id };
  };
}

function rowsOf({ rows }: Everything, { branch }: Subject) {
  return rows.filter(({ metadata }) => metadata.branch === branch);
}

function expectLive(place: Place, subject: Subject, { last, all }: { last: Result; all: Everything }): void {
  expect(last).toMatchObject({ exitCode: 0, stderr: "" });
  const live = rowsOf(all, subject).filter(({ lifecycle }) => !isTerminal(lifecycle));
  expect(live).toHaveLength(1);
  expect(z.union([spawnSchema, restoreSchema]).parse(JSON.parse(last.stdout)).id).toBe(live[0]?.id);
  expect(existsSync(worktreeOf(place, live[0]?.id ?? ""))).toBe(true);
}

function expectFreed(place: Place, subject: Subject, { last, all }: { last: Result; all: Everything }): void {
  expect(last).toMatchObject({ exitCode: 0, stderr: "" });
  expect(rowsOf(all, subject).map(({ lifecycle }) => isTerminal(lifecycle))).toEqual([true]);
  expect(existsSync(worktreeOf(place, subject.id ?? ""))).toBe(false);
  expect(git(place.repository, "rev-parse", subject.branch)).toBe(git(place.repository, "rev-parse", "main"));
}

function expectKept(place: Place, subject: Subject, all: Everything): void {
  expect(rowsOf(all, subject).map(({ lifecycle }) => isTerminal(lifecycle))).toEqual([true]);
  expect(workOf(place, subject.id ?? "")).toBe(WORK);
}

const expectWork = (place: Place, subject: Subject) => expect(workOf(place, subject.id ?? "")).toBe(WORK);

/** The first salvage has it whole. */
function expectKeptAside({ repository }: Place, { id }: Subject): void {
  const blob = `refs/ao/salvage/${id}/1:files/precious.txt`;
  expect(`${git(repository, "cat-file", "blob", blob)}\n`).toBe(WORK);
}

/** Once, and whole. */
export function expectSalvaged(place: Place, subject: Subject): void {
  const prefix = `refs/ao/salvage/${subject.id}`;
  expect(git(place.repository, "for-each-ref", "--format=%(refname)", prefix)).toBe(`${prefix}/1`);
  expectKeptAside(place, subject);
}

/** The work is where it was, or kept aside. */
export function expectSomewhere(place: Place, subject: Subject): void {
  const worktree = worktreeOf(place, subject.id ?? "");
  if (existsSync(join(worktree, "precious.txt"))) expectWork(place, subject);
  else expectKeptAside(place, subject);
}

/** The only turn of the subject, once it is as far as this. */
async function turnOf({ ao }: Place, { id }: Subject, isReady: (turn: Turn) => boolean): Promise<string> {
  for (let tries = 0; tries < 200; tries++) {
    await ao.json(reconcileSchema, ["reconcile"]);
    const [turn] = (await ao.json(turnsSchema, ["turns", id ?? ""])).data;
    if (turn !== undefined && isReady(turn)) return turn.id;
  }
  throw new Error(`${id} does not come so far`);
}

type Turn = z.output<typeof turnsSchema>["data"][number];

const ofSession = (command: string, { id, requestId }: Subject, ...more: readonly string[]) => [
  ...[command, id ?? "", "--request-id", requestId, "--json"],
  ...more,
];
const spawnArgv =
  (agent: readonly string[]) =>
  ({ branch, requestId }: Subject) => [
    ...["spawn", "--branch", branch, "--request-id", requestId, "--json"],
    ...agent,
  ];
const nothing = async (_place: Place, subject: Subject) => subject;

const POOL = 2;

/** Worktrees made ahead that are ready. */
async function withPool({ ao, repository }: Place, subject: Subject): Promise<Subject> {
  writeFileSync(join(repository, "ao.yaml"), `pool: ${POOL}\n`);
  expect((await ao.run(["reconcile"], { cwd: repository })).exitCode).toBe(0);
  return subject;
}

export const CRASH_SCENARIOS: readonly CrashScenario[] = [
  { name: "spawn", arrange: nothing, argv: spawnArgv(SHELL), check: expectLive },
  {
    name: "spawn of the embedded agent with a prompt on a branch that exists",
    async arrange({ repository }, subject) {
      const branch = `kept/${subject.branch}`;
      const commit = git(repository, "commit-tree", "-p", "main", "-m", KEPT, "main^{tree}");
      git(repository, "branch", branch, commit);
      return { ...subject, branch };
    },
    argv: spawnArgv(["--prompt", "hello"]),
    check(place, subject, end) {
      expectLive(place, subject, end);
      expect(git(place.repository, "log", "-1", "--format=%s", subject.branch)).toBe(KEPT);
    },
  },
  {
    name: "kill",
    arrange: spawned({}),
    argv: (subject) => ofSession("kill", subject),
    check: expectFreed,
  },
  {
    name: "kill of a session with work in its worktree",
    arrange: spawned({ work: true }),
    argv: (subject) => ofSession("kill", subject),
    expectIntact: expectWork,
    check(place, subject, { last, all }) {
      expect(last).toMatchObject({ exitCode: 4, stdout: "" });
      expect(last.stderr).toContain('"workspace_dirty"');
      expectKept(place, subject, all);
    },
  },
  {
    name: "restore of a freed session with its conversation",
    arrange: spawned({ agent: [], killed: "freed" }),
    argv: (subject) => ofSession("restore", subject),
    check: expectLive,
  },
  {
    name: "restore of a session with work in its worktree",
    arrange: spawned({ killed: "kept", work: true }),
    argv: (subject) => ofSession("restore", subject, "--fresh"),
    expectIntact: expectWork,
    check: expectLive,
  },
  {
    name: "restore of a session whose worktree stands and holds nothing",
    arrange: spawned({ killed: "kept" }),
    argv: (subject) => ofSession("restore", subject, "--fresh"),
    expectIntact: (place, { id }) => expect(existsSync(worktreeOf(place, id ?? ""))).toBe(true),
    check: expectLive,
  },
  {
    name: "kill that keeps the work of a worktree aside",
    arrange: spawned({ work: true }),
    argv: (subject) => ofSession("kill", subject, "--salvage"),
    expectIntact: expectSomewhere,
    check(place, subject, end) {
      expectFreed(place, subject, end);
      expectSalvaged(place, subject);
    },
  },
  {
    name: "restore of a session whose work was kept aside",
    arrange: spawned({ work: true, killed: "salvaged" }),
    argv: (subject) => ofSession("restore", subject, "--fresh"),
    expectIntact: (place, subject) => expectSalvaged(place, subject),
    check(place, subject, end) {
      expectLive(place, subject, end);
      expectWork(place, subject);
    },
  },
  {
    name: "cleanup, with work in the worktree of another session",
    async arrange(place, subject) {
      const dirty = `${subject.branch}-dirty`;
      await spawned({ killed: "kept", work: true })(place, { ...subject, branch: dirty });
      return spawned({ killed: "kept" })(place, subject);
    },
    argv: () => ["cleanup", "--all-projects", "--json"],
    check(place, subject, { last, all }) {
      expectFreed(place, subject, { last, all });
      const [dirty] = rowsOf(all, { ...subject, branch: `${subject.branch}-dirty` });
      const { skipped } = cleanupSchema.parse(JSON.parse(last.stdout));
      expect(skipped).toContainEqual(expect.objectContaining({ id: dirty?.id, reason: "untracked" }));
      expect(workOf(place, dirty?.id ?? "")).toBe(WORK);
    },
  },
  {
    name: "cleanup that keeps the work of a worktree aside",
    arrange: spawned({ killed: "kept", work: true }),
    argv: () => ["cleanup", "--all-projects", "--salvage", "--json"],
    expectIntact: expectSomewhere,
    check(place, subject, end) {
      expectFreed(place, subject, end);
      expectSalvaged(place, subject);
    },
  },
  {
    name: "cleanup under a request id, which tells the same each time",
    arrange: spawned({ killed: "kept", work: true }),
    argv: ({ requestId }) => [
      ...["cleanup", "--all-projects", "--salvage", "--request-id", requestId, "--json"],
    ],
    expectIntact: expectSomewhere,
    check(place, subject, { last, all }) {
      expectFreed(place, subject, { last: { ...last, stderr: "" }, all });
      expectSalvaged(place, subject);
      const salvageRef = `refs/ao/salvage/${subject.id}/1`;
      const { cleaned, errors } = cleanupSchema.parse(JSON.parse(last.stdout));
      // Where other subjects were before, it has theirs as well.
      expect(cleaned).toContainEqual(expect.objectContaining({ id: subject.id, salvageRef }));
      expect(errors).toEqual([]);
    },
  },
  {
    name: "rewind to the end of a turn, with work since",
    async arrange(place, subject) {
      const agent = ["--prompt", "write told.txt by the turn"];
      const session = await spawned({ agent })(place, subject);
      const turnId = await turnOf(place, session, ({ checkpoint }) => checkpoint !== null);
      addWork(place, session.id ?? "");
      rmSync(join(worktreeOf(place, session.id ?? ""), "README.md"));
      return { ...session, turnId };
    },
    argv: ({ id, turnId }) => ["rewind", id ?? "", "--to", turnId ?? "", "--json"],
    expectIntact: expectSomewhere,
    check(place, subject, { last, all }) {
      const { id, turnId } = subject;
      expect(last).toMatchObject({ exitCode: 0 });
      expect(JSON.parse(last.stdout)).toMatchObject({ id, turnId });
      expect(rowsOf(all, subject).map(({ lifecycle }) => isTerminal(lifecycle))).toEqual([false]);
      const worktree = worktreeOf(place, id ?? "");
      expect(readFileSync(join(worktree, "told.txt"), "utf8")).toBe("by the turn\n");
      expect(git(worktree, "status", "--porcelain")).toBe("?? told.txt");
      expectKeptAside(place, subject);
    },
  },
  {
    name: "put-back of kept work into a worktree that was made again",
    async arrange(place, subject) {
      const session = await spawned({ work: true, killed: "salvaged" })(place, subject);
      const bare = ["restore", session.id ?? "", "--fresh", "--no-salvage"];
      for (const argv of [bare, ["kill", session.id ?? "", "--keep-worktree"]])
        expect((await place.ao.run(argv, { cwd: place.repository })).exitCode).toBe(0);
      return session;
    },
    argv: ({ id }) => ["salvage", "restore", `${id}/1`, "--json"],
    expectIntact: expectSalvaged,
    check(place, subject, { last, all }) {
      expect(last).toMatchObject({ exitCode: 0, stderr: "" });
      expectKept(place, subject, all);
      expect(git(worktreeOf(place, subject.id ?? ""), "status", "--porcelain")).toBe("?? precious.txt");
    },
  },
  {
    name: "cancel of a running turn",
    async arrange(place, subject) {
      const session = await spawned({ agent: ["--prompt", "wait 600"], work: true })(place, subject);
      return { ...session, turnId: await turnOf(place, session, ({ phase }) => phase === "running") };
    },
    argv: ({ id, turnId }) => ["cancel", id ?? "", "--turn", turnId ?? "", "--json"],
    expectIntact: expectWork,
    check(_place, { turnId, ...subject }, { last, all }) {
      expect(last).toMatchObject({ exitCode: 0, stderr: "" });
      expect(JSON.parse(last.stdout)).toMatchObject({ turnId, settled: true, outcome: "canceled" });
      expect(rowsOf(all, subject).map(({ lifecycle }) => isTerminal(lifecycle))).toEqual([false]);
    },
  },
  {
    name: "spawn that takes a worktree made ahead",
    arrange: withPool,
    argv: spawnArgv(SHELL),
    check(place, subject, end) {
      expectLive(place, subject, end);
      expect(end.all.spares.length).toBeLessThanOrEqual(POOL);
    },
  },
  {
    name: "reconcile that makes worktrees ahead anew",
    async arrange(place, subject) {
      await withPool(place, subject);
      git(place.repository, "commit", "-q", "--allow-empty", "-m", subject.branch);
      return subject;
    },
    argv: () => ["reconcile", "--json"],
    check(place, _subject, { last, all }) {
      expect(last).toMatchObject({ exitCode: 0, stderr: "" });
      const commits = all.spares.map((path) => git(path, "rev-parse", "HEAD"));
      expect(commits).toEqual(Array.from({ length: POOL }, () => git(place.repository, "rev-parse", "main")));
    },
  },
  FORK_SCENARIO,
  ORPHAN_SCENARIO,
];
