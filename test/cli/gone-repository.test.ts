import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { aoSandbox } from "../support/ao.ts";
import {
  cleanupSchema,
  doctorSchema,
  listSchema,
  projectListSchema,
  projectSchema,
  reconcileSchema,
} from "../support/json-schemas.ts";

const SLEEP = ["--agent", "shell", "--", "sleep", "60"];

describe("a project whose repository was deleted", () => {
  test("is shown and named by every command, keeps its worktrees, and can be removed", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const id = await ao.spawn(cwd, SLEEP);
    const live = await ao.spawn(cwd, SLEEP);
    await ao.run(["kill", id, "--keep-worktree"]);
    rmSync(cwd, { recursive: true });

    const { data } = await ao.json(listSchema, ["list", "-a", "-p", "shop"]);
    expect(data.map(({ status }) => status)).toEqual(["working", "killed"]);
    expect(await ao.json(projectListSchema, ["project", "list"])).toMatchObject({
      data: [{ id: "shop", repositoryPath: cwd, repositoryExists: false }],
    });
    expect((await ao.json(projectSchema, ["project", "show", "shop"])).repositoryExists).toBe(false);
    const { checks } = await ao.json(doctorSchema, ["doctor"]);
    expect(checks).toContainEqual(expect.objectContaining({ name: "projects", status: "warn" }));
    const { cleaned, skipped, errors } = await ao.json(cleanupSchema, ["cleanup"]);
    expect({ cleaned, skipped: skipped.map((each) => each.id), errors }).toEqual({
      cleaned: [],
      skipped: [id],
      errors: [],
    });
    expect((await ao.json(reconcileSchema, ["reconcile"])).errors).toEqual([]);

    expect(await ao.error(["project", "remove", "shop"])).toMatchObject({ code: "project_in_use" });
    await ao.run(["kill", live, "--keep-worktree"]);
    await ao.json(projectSchema, ["project", "remove", "shop"]);
    expect(await ao.json(projectListSchema, ["project", "list"])).toEqual({ data: [] });
    expect((await ao.json(listSchema, ["list", "-a"])).data).toHaveLength(2);
    expect(existsSync(join(ao.dataDir, "worktrees", "shop", id, "README.md"))).toBe(true);
  });
});
