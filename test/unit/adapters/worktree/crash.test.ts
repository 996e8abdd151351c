import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryProcessTable } from "../../../../src/adapters/memory/process-table.ts";
import { systemProcessTable } from "../../../../src/adapters/processes/system-process-table.ts";
import type { SessionId } from "../../../../src/domain/ids.ts";
import type { WorkspaceSpec } from "../../../../src/ports/workspace.ts";
import { GIT_ENV, gitRepository, writeIn } from "../../../support/git-repository.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { type WorktreeJob, type WorktreeProcess, worktreeProgram } from "./worktree-program.ts";
import {
  anOperationId,
  failure,
  filesBelow,
  gitWrapper,
  hook,
  traces,
  worktreeWorld,
} from "./worktree-world.ts";

const OPERATION = anOperationId();
const table = systemProcessTable();

/** A world with a repository of some size, and processes that work in it and can be killed. */
async function crashWorld(options: { readonly gitPath?: string } = {}) {
  const repository = gitRepository();
  for (let at = 0; at < 150; at += 1) writeIn(repository.path, `d${at % 9}/f${at}`, `${at}\n`.repeat(50));
  repository.git("add", ".");
  repository.git("commit", "-qm", "many");
  // Nobody is in the worktrees here, and other tests' processes are none of this one's business.
  const processes = { ...memoryProcessTable(), family: table.family, signal: table.signal };
  const world = worktreeWorld(repository, { processes });
  const start = await worktreeProgram(GIT_ENV);
  const { managedRoot, trashDir } = world;
  const startJob = (job: Pick<WorktreeJob, "method" | "spec" | "plan">) =>
    start({ ...job, ...options, managedRoot, trashDir, locksDir: join(tempDir("ao-locks"), "locks") });
  const wanted = world.spec({ operationId: OPERATION });
  return { world, ...world, startJob, wanted };
}

describe("a create that was killed", () => {
  test("at any call of git is taken back whole, and can be done again", async () => {
    const git = countingGit();
    const { world, workspace, wanted, startJob } = await crashWorld(git);
    const before = traces(world);
    const plan = await workspace.plan(wanted);
    const start = async () => startJob({ method: "create", spec: wanted, plan });
    const stops = await stoppedAtEach(git, start, async (number, kill) => {
      await kill();
      await workspace.discard(wanted, plan);
      expect(traces(world), `killed at call ${number}`).toEqual(before);
      expect(existsSync(join(world.repository.path, ".git", "worktrees"))).toBe(false);
    });
    expect(stops).toBeGreaterThan(2);
    expect(await workspace.inspect(wanted)).toEqual([]);
  }, 120_000);

  test("with its git in the middle of the checkout leaves no git behind", async () => {
    const { world, workspace, wanted, startJob, repository } = await crashWorld();
    const reached = join(tempDir("ao-flag"), "reached");
    hook(repository, "post-checkout", `: > '${reached}'; exec sleep 60`);
    const before = traces(world);
    const plan = await workspace.plan(wanted);
    const making = startJob({ method: "create", spec: wanted, plan });
    await expect.poll(() => existsSync(reached), { timeout: 10_000 }).toBe(true);
    await making.kill();
    expect(await running()).not.toEqual([]);
    await workspace.discard(wanted, plan);
    expect(await running()).toEqual([]);
    expect(traces(world)).toEqual(before);
  });

  test("in a post-create command that starts others leaves none of them", async () => {
    const { world, workspace, wanted, startJob } = await crashWorld();
    const reached = join(tempDir("ao-flag"), "reached");
    const commands = [`(setsid sleep 60 &) ; : > '${reached}'; sleep 60`];
    const spec: WorkspaceSpec = { ...wanted, postCreate: { ...wanted.postCreate, commands } };
    const before = traces(world);
    const plan = await workspace.plan(spec);
    const making = startJob({ method: "create", spec, plan });
    await expect.poll(() => existsSync(reached), { timeout: 10_000 }).toBe(true);
    await making.kill();
    expect((await running()).length).toBeGreaterThan(1);
    await workspace.discard(spec, plan);
    expect(await running()).toEqual([]);
    expect(traces(world)).toEqual(before);
  });
});

/** A git whose calls all stop for ever from the one with this number on, which is counted anew for each number. */
function countingGit() {
  const folder = tempDir("ao-stop");
  const [from, count, reached] = [join(folder, "from"), join(folder, "count"), join(folder, "reached")];
  const gitPath = gitWrapper(
    `echo >> '${count}'; [ $(wc -l < '${count}') -ge $(cat '${from}') ] && { echo $$ >> '${reached}'; exec sleep 60; }`,
  );
  const stopFrom = (number: number) => {
    for (const file of [count, reached]) rmSync(file, { force: true });
    writeFileSync(from, `${number}`);
  };
  const endStopped = () => {
    for (const pid of readFileSync(reached, "utf8").trim().split("\n")) process.kill(Number(pid), "SIGKILL");
  };
  return { gitPath, stopFrom, hasStopped: () => existsSync(reached), endStopped };
}

/** Lets `start` stop at its first, second, third call of git and so on, until it ends before; how often it stopped. */
async function stoppedAtEach(
  { stopFrom, hasStopped, endStopped }: ReturnType<typeof countingGit>,
  start: (number: number) => Promise<WorktreeProcess>,
  onStopped: (number: number, kill: () => Promise<void>) => Promise<void>,
): Promise<number> {
  for (let number = 1; ; number += 1) {
    stopFrom(number);
    const job = await start(number);
    let isOver = false;
    const over = job.ended.then(() => {
      isOver = true;
    });
    await expect.poll(() => isOver || hasStopped(), { timeout: 20_000, interval: 10 }).toBe(true);
    if (!hasStopped()) {
      await over;
      return number - 1;
    }
    await onStopped(number, async () => {
      await job.kill();
      endStopped();
    });
  }
}

test("a taking back that was killed at any call of git is finished by the next one", async () => {
  const git = countingGit();
  const { world, workspace, wanted, startJob } = await crashWorld(git);
  const before = traces(world);
  const plan = await workspace.plan(wanted);
  const start = async () => {
    await workspace.create(wanted, plan);
    return startJob({ method: "discard", spec: wanted, plan });
  };
  const stops = await stoppedAtEach(git, start, async (number, kill) => {
    await kill();
    await workspace.discard(wanted, plan);
    await workspace.sweepTrash();
    expect(traces(world), `killed at call ${number}`).toEqual(before);
  });
  expect(stops).toBeGreaterThan(5);
}, 120_000);

describe("a destroy that was killed", () => {
  /** A git that stops for ever at the first call that `pattern` fits, once the flag is there. */
  const stoppingGit = (pattern: string) => {
    const folder = tempDir("ao-stop");
    const [flag, reached] = [join(folder, "flag"), join(folder, "reached")];
    const gitPath = gitWrapper(
      `case " $* " in ${pattern}) [ -e '${flag}' ] && { echo $$ > '${reached}.new'; mv '${reached}.new' '${reached}'; exec sleep 60; };; esac`,
    );
    return { gitPath, arm: () => writeFileSync(flag, ""), reached };
  };

  test.each([
    ["before it was moved aside", '*" status "*', ["standing"]],
    ["after it was moved aside", '*" --git-dir="*" status "*', ["held"]],
    ["after it was judged, with its record left", '*" worktree remove "*', ["going"]],
  ])("%s is finished by the next one", async (_when, pattern, [where]) => {
    const { gitPath, arm, reached } = stoppingGit(pattern);
    const { world, workspace, wanted, startJob, trashDir } = await crashWorld({ gitPath });
    const plan = await workspace.plan(wanted);
    await workspace.create(wanted, plan);
    arm();
    const freeing = startJob({ method: "destroy", spec: wanted, plan });
    await expect.poll(() => existsSync(reached), { timeout: 10_000 }).toBe(true);
    await freeing.kill();
    process.kill(Number(readFileSync(reached, "utf8")), "SIGKILL");
    const trash = existsSync(trashDir) ? readdirSync(trashDir) : [];
    const found = existsSync(wanted.path) ? "standing" : trash[0]?.split(".").at(-1);
    expect(found).toBe(where);
    await workspace.destroy(wanted);
    await workspace.sweepTrash();
    expect(filesBelow(world.dataDir).filter((name) => name.includes("app"))).toEqual([]);
    expect(world.repository.worktrees()).toEqual([world.repository.path]);
    expect(world.repository.branches()).toContain("feat/1");
    expect(await workspace.restore(wanted)).toMatchObject({ branch: "feat/1" });
  });

  test("at any call of git is finished by the next one, and work that came in meanwhile is not lost", async () => {
    const git = countingGit();
    const { world, workspace, spec, startJob, trashDir } = await crashWorld(git);
    const session = (number: number) =>
      spec({ operationId: OPERATION, sessionId: `app-${number}` as SessionId, branch: `b/${number}` });
    const seen = new Set<string>();
    const start = async (number: number) => {
      const plan = await workspace.plan(session(number));
      await workspace.create(session(number), plan);
      return startJob({ method: "destroy", spec: session(number), plan });
    };
    const stops = await stoppedAtEach(git, start, async (number, kill) => {
      const one = session(number);
      const places = { standing: one.path, held: join(trashDir, `${one.sessionId}.held`) };
      const [where, tree] = Object.entries(places).find(([, path]) => existsSync(path)) ?? ["judged", ""];
      seen.add(where);
      if (tree !== "") writeIn(tree, "work.txt", "mine\n");
      await kill();
      if (tree !== "") {
        const error = await failure(workspace.destroy(one), "workspace_dirty");
        expect(error.message, `killed at call ${number}, ${where}`).toContain("work.txt");
        expect(readFileSync(join(one.path, "work.txt"), "utf8")).toBe("mine\n");
        rmSync(join(one.path, "work.txt"));
      }
      expect(await workspace.inspect(one), `killed at call ${number}, ${where}`).toEqual([]);
      await workspace.destroy(one);
    });
    expect(stops).toBeGreaterThan(5);
    expect([...seen].sort()).toEqual(["held", "judged", "standing"]);
    await workspace.sweepTrash();
    expect(filesBelow(world.dataDir).filter((name) => name.includes("app"))).toEqual([]);
    expect(world.repository.worktrees()).toEqual([world.repository.path]);
  }, 180_000);
});

/** Pids of what runs for the operation. */
async function running(): Promise<readonly number[]> {
  const family = await table.family(null, { name: "AO_OPERATION_ID", value: OPERATION });
  return family.map(({ pid }) => pid);
}
