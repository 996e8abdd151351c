import { existsSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect } from "vitest";
import { git } from "../support/ao.ts";
import { reconcileSchema, salvageListSchema } from "../support/json-schemas.ts";
import {
  addWork,
  type CrashScenario,
  expectSalvaged,
  expectSomewhere,
  type Place,
  SHELL,
  type Subject,
  spawned,
  worktreeOf,
} from "./crash-scenarios.ts";

/** Forgets the row of a session. */
export function forgetRow({ ao }: Place, id: string): void {
  const db = new Database(join(ao.dataDir, "ao.db"));
  db.prepare("DELETE FROM sessions WHERE id = ?").run(id);
  db.close();
}

/** A worktree of nobody with work in it, on a branch that stays when it goes. */
async function orphaned(place: Place, subject: Subject): Promise<Subject> {
  const branch = `kept/${subject.branch}`;
  const session = await spawned({ agent: SHELL, killed: "kept" })(place, { ...subject, branch });
  addWork(place, session.id ?? "");
  forgetRow(place, session.id ?? "");
  return session;
}

export const ORPHAN_SCENARIO: CrashScenario = {
  name: "reconcile that keeps the work of a worktree of nobody aside",
  arrange: orphaned,
  argv: () => ["reconcile", "--salvage", "--json"],
  recovery: ["--salvage"],
  expectIntact: expectSomewhere,
  check(place, subject, { last }) {
    expect(last).toMatchObject({ exitCode: 0, stderr: "" });
    expect(reconcileSchema.parse(JSON.parse(last.stdout)).orphans).toEqual([]);
    expect(existsSync(worktreeOf(place, subject.id ?? ""))).toBe(false);
    expectSalvaged(place, subject);
    expect(git(place.repository, "rev-parse", subject.branch)).toBe(
      git(place.repository, "rev-parse", "main"),
    );
  },
};

/** What `ao` itself tells of the salvages of a session. */
export async function salvagesOf({ ao }: Place, id: string): Promise<readonly string[]> {
  return (await ao.json(salvageListSchema, ["salvage", "list", id])).data.map(({ ref }) => ref);
}
