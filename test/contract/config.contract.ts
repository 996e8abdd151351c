import { describe, expect, test } from "vitest";
import type { Project } from "../../src/domain/project.ts";
import { SESSION_KINDS } from "../../src/domain/session.ts";
import type { Config } from "../../src/ports/config.ts";
import { aProject } from "../support/builders.ts";

/** A configuration that names these projects, each with an agent. */
export type ConfigFactory = (
  projects: readonly { readonly id: string; readonly path: string; readonly agent: string }[],
) => Promise<Config>;

const WEB: Project = aProject({ id: "web", repositoryPath: "/src/web" });
const STRANGER: Project = aProject({ id: "stranger", repositoryPath: "/src/stranger" });

/** What every configuration owes. */
export function configContract(name: string, load: ConfigFactory): void {
  describe(`the configuration of ${name}`, () => {
    test("that says nothing has a default for every setting of every kind, also without a project", async () => {
      const config = await load([]);
      expect(config).toMatchObject({ warnings: [], projects: [] });
      for (const kind of SESSION_KINDS) {
        const settings = await config.settingsFor(null, kind);
        expect(Object.values(settings).map(({ origin }) => origin)).toEqual(
          Object.keys(settings).map(() => "default"),
        );
        expect(settings).toMatchObject({
          agent: { value: "embedded" },
          model: { value: null },
          permissions: { value: "default" },
          rules: { value: null },
          defaultBranch: { value: null },
          symlinks: { value: [] },
          copy: { value: [] },
          postCreate: { value: [] },
          postCreateTimeoutMs: { value: 600_000 },
          env: { value: {} },
          ignored: { value: { reproducible: [], work: [] } },
        });
      }
      expect(await config.ignoredFor(null)).toEqual({ reproducible: [], work: [] });
    });

    test("tells its projects with what it says of them and leaves the rest open", async () => {
      const config = await load([{ id: "web", path: "/src/web", agent: "shell" }]);
      expect(config.projects).toMatchObject([
        { id: "web", path: "/src/web", prefix: null, defaultBranch: null },
      ]);
    });

    test("names every agent that it asks for, whether there is one of that name or not", async () => {
      const config = await load([
        { id: "web", path: "/src/web", agent: "shell" },
        { id: "app", path: "/src/app", agent: "nosuch" },
      ]);
      expect(config.agents.map(({ name }) => name)).toEqual(["shell", "nosuch"]);
      for (const { key, line } of config.agents) {
        expect(key).toMatch(/^projects\..+\.agent$/);
        expect(line).toBeGreaterThan(0);
      }
    });

    test("applies to a project what it says of it, with an origin, and to no other", async () => {
      const config = await load([{ id: "web", path: "/src/web", agent: "shell" }]);
      const { agent } = await config.settingsFor(WEB, "worker");
      expect(agent.value).toBe("shell");
      expect(agent.origin).not.toBe("default");
      expect((await config.settingsFor(STRANGER, "worker")).agent.value).toBe("embedded");
    });

    test("knows a project by its repository, whatever id that has", async () => {
      const config = await load([{ id: "web", path: "/src/web", agent: "shell" }]);
      const renamed = aProject({ id: "shop", repositoryPath: "/src/web" });
      expect((await config.settingsFor(renamed, "orchestrator")).agent.value).toBe("shell");
    });

    test("gives the same answer twice", async () => {
      const config = await load([{ id: "web", path: "/src/web", agent: "shell" }]);
      const first = await config.settingsFor(WEB, "worker");
      expect(await config.settingsFor(WEB, "worker")).toEqual(first);
    });
  });
}
