import { renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Ao, aoSandbox } from "../support/ao.ts";
import { doctorSchema, reconcileSchema } from "../support/json-schemas.ts";

const SLEEP = ["--agent", "shell", "--", "sleep", "300"];
const kept = (kind: string, sessionId: string) => ({ kind, sessionId, action: "kept" });
const BOTH = ["runtime", "worktree"].flatMap((kind) => [kept(kind, "shop-1"), kept(kind, "shop-2")]);

/** Two agents that run, and no database any more that tells of them. */
async function twoWithoutStore(): Promise<{ readonly ao: Ao; readonly cwd: string }> {
  const ao = aoSandbox();
  const cwd = ao.repository();
  for (const _ of [1, 2]) await ao.spawn(cwd, SLEEP);
  for (const name of ["ao.db", "ao.db-wal", "ao.db-shm"]) {
    try {
      renameSync(join(ao.dataDir, name), join(ao.root, name));
    } catch {
      // The last one who closed it has taken its log away.
    }
  }
  return { ao, cwd };
}

/** A tick that says that the store is lost, beside what it found. */
async function reconciled(ao: Ao) {
  const { exitCode, stdout } = await ao.run(["reconcile", "--json"]);
  expect(exitCode).toBe(1);
  const result = reconcileSchema.parse(JSON.parse(stdout));
  expect(result.errors).toMatchObject([
    { subject: "store", code: "store_corrupt", message: expect.stringContaining("ao.db is gone") },
  ]);
  return result;
}

const sessions = ({ tmux }: Ao) =>
  tmux("list-sessions", "-F", "#{@ao_session_id} #{pane_dead}").split("\n").sort();

test("a spawn that is refused after the database was lost lets no reconcile end the agents that run", async () => {
  const { ao, cwd } = await twoWithoutStore();
  expect(await ao.error(["spawn", ...SLEEP], { cwd })).toMatchObject({ code: "store_corrupt" });
  const { orphans } = await reconciled(ao);
  expect(orphans).toHaveLength(BOTH.length);
  expect(orphans).toMatchObject(BOTH);
  expect(sessions(ao)).toEqual(["shop-1 0", "shop-2 0"]);
}, 60_000);

test("without a database reconcile and doctor name what runs and stands, and touch nothing", async () => {
  const { ao } = await twoWithoutStore();
  const { orphans, observed } = await reconciled(ao);
  expect(observed).toBe(0);
  expect(orphans).toMatchObject(BOTH);
  const { stdout } = await ao.run(["doctor", "--json"]);
  const { checks } = doctorSchema.parse(JSON.parse(stdout));
  expect(checks.find(({ name }) => name === "store")).toMatchObject({
    status: "fail",
    detail: expect.stringContaining("ao.db is gone, and worktrees"),
  });
  expect(checks.find(({ name }) => name === "orphans")).toMatchObject({
    status: "fail",
    detail: expect.stringMatching(/runtime of shop-1.*runtime of shop-2.*worktree of shop-1/),
    fix: expect.stringContaining("ao.db"),
  });
  expect(sessions(ao)).toEqual(["shop-1 0", "shop-2 0"]);
}, 60_000);

test.each([[["list"]], [["show", "shop-1"]], [["send", "shop-1", "hi"]], [["cleanup"]]])(
  "without a database ao %j says that it is gone, and not that there is nothing",
  async (argv) => {
    const { ao } = await twoWithoutStore();
    const { exitCode, stderr } = await ao.run(argv);
    expect([exitCode, stderr]).toEqual([5, expect.stringContaining("ao.db is gone, and worktrees")]);
  },
  60_000,
);
