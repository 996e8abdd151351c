import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ignoredRuleOf } from "../../../../src/adapters/config/ignored-rules.ts";
import { memoryStore } from "../../../../src/adapters/memory/store.ts";
import { aKilledSession, aProject } from "../../../support/builders.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const NOTHING = { reproducible: [], work: [] };
const work = (...patterns: readonly string[]) => ({ reproducible: [], work: patterns });

/** A session of a project, and files of configuration in several places. */
function world(recorded?: "recorded") {
  const base = tempDir();
  const at = (...names: readonly string[]) => join(base, ...names);
  for (const folder of ["repo", "caller", "elsewhere"]) mkdirSync(at(folder));
  const repositoryPath = at("repo");
  const configPath = recorded === undefined ? null : at("elsewhere", "ao.yaml");
  const session = aKilledSession({ metadata: { repositoryPath, configPath } });
  const { sessions: store } = memoryStore();
  store.insertProject(aProject({ id: session.projectId, repositoryPath }));
  store.insert(session);
  const ask = (options: { explicitPath?: string; env?: Record<string, string>; sessionId?: string } = {}) => {
    const { explicitPath, env = {}, sessionId = session.id } = options;
    const lookup = { explicitPath, env, cwd: at("caller"), home: undefined, uid: process.getuid?.() };
    const repositoryOf = async (folder: string) => (folder === repositoryPath ? repositoryPath : undefined);
    const owner = { sessionId, projectId: session.projectId, repositoryPath };
    return ignoredRuleOf({ store, lookup, repositoryOf }, owner);
  };
  const say = (folder: string, pattern: string) =>
    writeFileSync(at(folder, "ao.yaml"), `ignored: { work: ["${pattern}"] }\n`);
  return { at, ask, say };
}

describe("what a project's configuration says of ignored files", () => {
  test("is nothing without a file", async () => {
    expect(await world().ask()).toEqual(NOTHING);
  });

  test("is in the file of the repository, wherever the caller stands", async () => {
    const { ask, say } = world();
    say("repo", "ours");
    say("caller", "another's");
    expect(await ask()).toEqual(work("ours"));
  });

  test("is in the file the session was made with while that is there, as it is now", async () => {
    const { at, ask, say } = world("recorded");
    say("repo", "found");
    say("elsewhere", "recorded");
    const env = { AO_CONFIG_PATH: at("caller", "ao.yaml") };
    say("caller", "another session's");
    expect(await ask({ env })).toEqual(work("recorded"));
    say("elsewhere", "changed");
    expect(await ask()).toEqual(work("changed"));
    rmSync(at("elsewhere", "ao.yaml"));
    expect(await ask()).toEqual(work("found"));
    expect(await ask({ env })).toEqual(work("another session's"));
  });

  test("is in the file that is named on the command line before any other", async () => {
    const { at, ask, say } = world("recorded");
    for (const folder of ["repo", "elsewhere", "caller"]) say(folder, folder);
    expect(await ask({ explicitPath: at("caller", "ao.yaml") })).toEqual(work("caller"));
  });

  test("is found for a worktree of which no session is on record", async () => {
    const { ask, say } = world();
    say("repo", "ours");
    expect(await ask({ sessionId: "app-99" })).toEqual(work("ours"));
  });

  test("cannot be told from a file that cannot be read", async () => {
    const { at, ask } = world("recorded");
    writeFileSync(at("elsewhere", "ao.yaml"), "ignored: yes\n");
    await expect(ask()).rejects.toMatchObject({ code: "config_invalid" });
  });
});
