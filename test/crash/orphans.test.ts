import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { git } from "../support/ao.ts";
import { expectSound } from "../support/crash-traces.ts";
import { doctorSchema, listSchema, reconcileSchema } from "../support/json-schemas.ts";
import {
  addWork,
  aPlace,
  expectNeighbourUnharmed,
  type Place,
  SHELL,
  worktreeOf,
} from "./crash-scenarios.ts";
import { forgetRow, salvagesOf } from "./orphan-scenario.ts";
import { stoppedAt } from "./stopped-run.ts";

const SUBJECT = "shop-2";
const SPAWN = ["spawn", "--branch", "subject", ...SHELL];

const reconcile = ({ ao }: Place) => ao.json(reconcileSchema, ["reconcile"]);

describe("an orphan", () => {
  test("with work in it is kept aside by the command that is named, and its work comes back in a session", async () => {
    const place = await aPlace();
    const { ao, repository } = place;
    const id = await ao.spawn(repository, SPAWN.slice(1));
    addWork(place, id);
    expect((await ao.run(["kill", id, "--keep-worktree"])).exitCode).toBe(0);
    forgetRow(place, id);
    const fix = "ao reconcile --salvage";
    const { checks } = await ao.json(doctorSchema, ["doctor"]);
    expect(checks.find(({ name }) => name === "orphans")).toMatchObject({ status: "warn", fix });
    expect((await reconcile(place)).orphans).toMatchObject([{ sessionId: id, action: "kept", fix }]);

    const both = await Promise.all([1, 2].map(() => ao.json(reconcileSchema, ["reconcile", "--salvage"])));
    expect(both.flatMap(({ errors }) => errors)).toEqual([]);
    const told = both.flatMap(({ orphans }) => orphans).filter(({ action }) => action === "salvaged");
    expect(told).toMatchObject([{ sessionId: id, salvageRef: `refs/ao/salvage/${id}/1` }]);
    expect(existsSync(worktreeOf(place, id))).toBe(false);
    expect(await salvagesOf(place, id)).toEqual([`refs/ao/salvage/${id}/1`]);

    const without = await ao.run(["salvage", "restore", `${id}/1`]);
    expect(without).toMatchObject({ exitCode: 3, stderr: expect.stringContaining("--into <session>") });
    const next = await ao.spawn(repository, SPAWN.slice(1));
    expect((await ao.run(["kill", next, "--keep-worktree"])).exitCode).toBe(0);
    expect((await ao.run(["salvage", "restore", `${id}/1`, "--into", next])).exitCode).toBe(0);
    expect(readFileSync(join(worktreeOf(place, next), "precious.txt"), "utf8")).toBe(
      "nobody else has this\n",
    );
    expect((await ao.run(["salvage", "show", id])).stdout).toContain("precious.txt");
    expect((await ao.run(["salvage", "drop", `${id}/1`])).exitCode).toBe(0);
    expect((await ao.run(["salvage", "list", id])).exitCode).toBe(3);
    expect(expectSound(ao, repository).sessions).toEqual([`${place.neighbour} 0`]);
  });

  /** Forgets all that is recorded of a session, but perhaps its operations. */
  function forget({ ao }: Place, id: string, { operations }: { readonly operations: boolean }): void {
    const db = new Database(join(ao.dataDir, "ao.db"));
    db.prepare("DELETE FROM sessions WHERE id = ?").run(id);
    if (operations) db.prepare("DELETE FROM operations WHERE session_id = ?").run(id);
    db.close();
  }

  test("with nothing to lose is undone, one with work is named by reconcile and doctor, however often", async () => {
    const place = await aPlace();
    const { ao, repository, neighbour } = place;
    await ao.spawn(repository, SPAWN.slice(1));
    for (const id of [neighbour, SUBJECT]) forget(place, id, { operations: false });
    const checks = await ao.json(doctorSchema, ["doctor"]);
    const orphans = checks.checks.find(({ name }) => name === "orphans");
    expect(orphans).toMatchObject({ status: "warn" });
    for (const id of [neighbour, SUBJECT]) expect(orphans?.detail).toContain(`worktree of ${id}`);

    const first = await reconcile(place);
    expect(first.errors).toEqual([]);
    expect(first.orphans.map(({ kind, sessionId, action }) => [kind, sessionId, action])).toEqual([
      ["runtime", neighbour, "undone"],
      ["runtime", SUBJECT, "undone"],
      ["worktree", neighbour, "kept"],
      ["worktree", SUBJECT, "undone"],
    ]);
    expect(first.orphans[2]?.detail).toContain("precious.txt");
    expect(existsSync(join(ao.dataDir, "worktrees", "shop", SUBJECT))).toBe(false);
    for (let times = 0; times < 2; times++) {
      const { orphans: again } = await reconcile(place);
      expect(again).toEqual([first.orphans[2]]);
      expectNeighbourUnharmed(place);
    }
  });

  test("whose agent runs, and of which nothing at all is recorded, is named and left alone", async () => {
    const place = await aPlace();
    forget(place, place.neighbour, { operations: true });
    const { orphans } = await reconcile(place);
    expect(orphans.map(({ kind, action }) => [kind, action])).toEqual([
      ["runtime", "kept"],
      ["worktree", "kept"],
    ]);
    expect(place.ao.tmux("list-panes", "-a", "-F", "#{session_name} #{pane_dead}")).toBe(
      `${place.neighbour} 0`,
    );
    expectNeighbourUnharmed(place);
  });

  test.each([
    "spawn.workspace.create:before",
    "spawn.workspace.create:after",
    "spawn.runtime.create:after",
    "spawn.row.insert:after",
  ])("is nothing that another process is just making, at %s", async (boundary) => {
    const place = await aPlace();
    const { ao, repository } = place;
    const maker = await stoppedAt(place, SPAWN, { boundary });
    const { orphans, operations, errors } = await reconcile(place);
    expect({ orphans, operations, errors }).toEqual({ orphans: [], operations: [], errors: [] });
    const { checks } = await ao.json(doctorSchema, ["doctor"]);
    expect(checks.find(({ name }) => name === "orphans")).toMatchObject({ status: "pass" });
    expect(checks.find(({ name }) => name === "operations")?.detail).toContain("under way: spawn of shop-2");
    expect((await ao.run(["cleanup", "--all-projects"])).exitCode).toBe(0);
    expect(await maker.wake()).toMatchObject({ exitCode: 0, stderr: "" });
    expect(expectSound(ao, repository).sessions).toEqual(["shop-1 0", "shop-2 0"]);
  });

  test("is nothing of another data directory, though it uses the same tmux server and repository", async () => {
    const place = await aPlace();
    const { ao, repository } = place;
    const other = { env: { AO_DATA_DIR: join(ao.root, "other") }, cwd: repository };
    await ao.json(listSchema, ["list"], other);
    const id = await ao.spawn(repository, ["--branch", "other", ...SHELL], other);
    expect(id).toBe("shop-1");
    expect((await ao.run(["kill", id], other)).exitCode).toBe(0);
    const [first, second] = [ao.dataDir, other.env.AO_DATA_DIR].map(
      (dir) => new Database(join(dir, "ao.db")),
    );
    const socket = first?.prepare("SELECT value FROM settings WHERE key = 'tmux.socket'").pluck().get();
    second?.prepare("UPDATE settings SET value = ? WHERE key = 'tmux.socket'").run(socket);
    for (const db of [first, second]) db?.close();
    const { orphans, errors } = await ao.json(reconcileSchema, ["reconcile"], other);
    expect({ orphans, errors }).toEqual({ orphans: [], errors: [] });
    expect(await ao.spawn(repository, ["--branch", "beside", ...SHELL], other)).toBe("shop-2");
    expect((await ao.json(reconcileSchema, ["reconcile"])).orphans).toEqual([]);
    const panes = ao.tmux("list-panes", "-a", "-F", "#{session_name} #{pane_dead}").split("\n").sort();
    expect(panes).toEqual(["shop-1 0", "shop-2 0"]);
    expectNeighbourUnharmed(place);
  });

  test("is nothing that a person made on the same tmux server and in the same folders", async () => {
    const place = await aPlace();
    const { ao, repository } = place;
    ao.tmux("new-session", "-d", "-s", "shop-7", "sleep 600");
    const notes = join(ao.dataDir, "worktrees", "shop", "notes");
    mkdirSync(notes);
    const theirs = join(ao.root, "theirs");
    git(repository, "worktree", "add", "-q", "-b", "theirs", theirs);
    for (let times = 0; times < 2; times++) {
      const { orphans, errors } = await reconcile(place);
      expect({ orphans, errors }).toEqual({ orphans: [], errors: [] });
    }
    expect((await ao.run(["cleanup", "--all-projects"])).exitCode).toBe(0);
    expect(ao.tmux("list-sessions", "-F", "#{session_name}").split("\n").sort()).toEqual([
      "shop-1",
      "shop-7",
    ]);
    expect([notes, theirs].map((path) => existsSync(path))).toEqual([true, true]);
    expect(git(repository, "worktree", "list")).toContain(theirs);
  });
});
