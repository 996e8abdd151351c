import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../src/adapters/config/load-config.ts";
import { memoryConfig } from "../../src/adapters/memory/config.ts";
import { projectId } from "../support/builders.ts";
import { tempDir } from "../support/temp-dir.ts";
import { configContract } from "./config.contract.ts";

configContract("the memory twin", async (projects) =>
  memoryConfig({
    projects: projects.map(({ id, path }) => ({
      id: projectId(id),
      name: id,
      path,
      prefix: null,
      defaultBranch: null,
    })),
    agents: Object.fromEntries(projects.map(({ path, agent }) => [path, agent])),
  }),
);

configContract("a file", async (projects) => {
  const directory = tempDir();
  const blocks = projects.map(({ id, path, agent }) => [id, { path, agent }] as const);
  // JSON is YAML (YAML 1.2, 1.2).
  writeFileSync(join(directory, "ao.yaml"), JSON.stringify({ projects: Object.fromEntries(blocks) }));
  return loadConfig({
    ...{ explicitPath: undefined, recordedPath: undefined, env: {}, home: undefined },
    cwd: directory,
    uid: process.getuid?.(),
    repositoryOf: async () => undefined,
  });
});
