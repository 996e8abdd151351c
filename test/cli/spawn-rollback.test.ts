import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Ao as OpenedAo, openAo } from "../../src/compose.ts";
import { anEmptySpawn, planSpawn, spawnPlanned } from "../../src/lifecycle/configured-sessions.ts";
import type { SessionDeps } from "../../src/lifecycle/deps.ts";
import { type Ao, aoSandbox } from "../support/ao.ts";

const SLEEP = ["--agent", "shell", "--", "sleep", "60"];

/** A program of this name that fails when it is asked for `words`, and else is the real one. */
function failingProgram(ao: Ao, name: string, words: string): Readonly<Record<string, string>> {
  const folder = join(ao.root, "bin");
  const real = (process.env["PATH"] ?? "").split(":");
  const script = `#!/bin/sh
case " $* " in *" ${words} "*) echo "no luck" >&2; exit 1 ;; esac
PATH='${real.join(":")}' exec ${name} "$@"
`;
  mkdirSync(folder);
  writeFileSync(join(folder, name), script);
  chmodSync(join(folder, name), 0o755);
  return { PATH: `${folder}:${real.join(":")}` };
}

/** What is wrong, brought about in a sandbox; the environment and arguments of the spawn that meets it. */
interface Trouble {
  readonly env?: Readonly<Record<string, string>>;
  readonly argv?: readonly string[];
}

const STEPS: readonly (readonly [string, string, (ao: Ao, cwd: string) => Trouble])[] = [
  ["the plan of the worktree", "branch_missing", () => ({ argv: ["--base", "nowhere", ...SLEEP] })],
  ["git worktree add", "git_failed", (ao) => ({ env: failingProgram(ao, "git", "worktree add") })],
  [
    "a post-create step",
    "post_create_failed",
    (ao) => {
      writeFileSync(join(ao.root, "ao.yaml"), "postCreate: ['echo half > half-done', 'exit 3']\n");
      return {};
    },
  ],
  ["tmux new-session", "runtime_unavailable", (ao) => ({ env: failingProgram(ao, "tmux", "new-session") })],
  [
    "the first moments of the agent",
    "agent_start_failed",
    () => ({ argv: ["--agent", "shell", "--", "sh", "-c", "exit 7"] }),
  ],
];

describe("a spawn of which one step fails leaves everything as it was", () => {
  test.each(STEPS)("%s (%s)", async (_step, code, bringAbout) => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const { env = {}, argv = SLEEP } = bringAbout(ao, cwd);
    const before = await ao.traces(cwd);
    expect(await ao.error(["spawn", ...argv], { cwd, env })).toMatchObject({ code });
    expect(await ao.traces(cwd)).toEqual(before);
  });
});

/** The sandbox's own data directory, opened in this process on the real adapters. */
async function opened(ao: Ao, cwd: string, change: (deps: SessionDeps) => Partial<SessionDeps>) {
  const open = await openAo({ env: ao.env, cwd, access: "create" });
  return { ...open, deps: { ...open.deps, ...change(open.deps) } };
}

async function spawnOn(ao: OpenedAo) {
  const plan = await planSpawn(ao, { project: null, kind: "worker", agent: null });
  try {
    return await spawnPlanned(ao, plan, { ...anEmptySpawn, prompt: "hello" });
  } finally {
    ao.close();
  }
}

/** The steps of a spawn, each by the boundary it begins with, in order. */
async function boundariesOfSpawn(): Promise<readonly string[]> {
  const ao = aoSandbox();
  const crossed: string[] = [];
  await spawnOn(
    await opened(ao, ao.repository(), () => ({ boundary: async (name) => void crossed.push(name) })),
  );
  return crossed.filter((name) => /^spawn\..*:before$/.test(name));
}

function failAt(point: string): Partial<SessionDeps> {
  return {
    boundary: async (name) => {
      if (name === point) throw new Error(`no luck at ${point}`);
    },
  };
}

describe("a spawn of which a step does not come about", () => {
  const ROW = "spawn.row.insert:before";

  test("leaves everything as it was; once there is a row, that stays and is over", async () => {
    const points = await boundariesOfSpawn();
    expect(points).toContain(ROW);
    for (const point of points) {
      const ao = aoSandbox();
      const cwd = ao.repository();
      const before = await ao.traces(cwd);
      await expect(spawnOn(await opened(ao, cwd, () => failAt(point))), point).rejects.toThrowError(
        "no luck",
      );
      const after = await ao.traces(cwd);
      if (points.indexOf(point) <= points.indexOf(ROW)) expect(after, point).toEqual(before);
      else {
        const { rows, projects, ...rest } = after;
        const { rows: _rows, projects: _projects, ...same } = before;
        expect(rest, point).toEqual(same);
        expect(rows, point).toMatchObject([{ id: "shop-1", isTerminated: true, status: "errored" }]);
        expect(projects, point).toMatchObject([{ id: "shop" }]);
      }
    }
  }, 120_000);
});

describe("a spawn whose store fails", () => {
  test("to take the row leaves everything as it was", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const before = await ao.traces(cwd);
    const broken = await opened(ao, cwd, ({ store }) => ({
      store: {
        ...store,
        insert: () => {
          throw new Error("no luck");
        },
      },
    }));
    await expect(spawnOn(broken)).rejects.toThrowError("no luck");
    expect(await ao.traces(cwd)).toEqual(before);
  });

  test("to complete the row ends it, and leaves all else as it was", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const before = await ao.traces(cwd);
    let isFirst = true;
    const broken = await opened(ao, cwd, ({ store }) => ({
      store: {
        ...store,
        save(record, readRevision) {
          if (!isFirst) return store.save(record, readRevision);
          isFirst = false;
          throw new Error("no luck");
        },
      },
    }));
    await expect(spawnOn(broken)).rejects.toThrowError("no luck");
    expect(await ao.traces(cwd)).toMatchObject({
      ...before,
      rows: [{ id: "shop-1", isTerminated: true }],
      projects: [{ id: "shop" }],
    });
  });
});
