import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AgentEnvironmentInput, agentEnvironment } from "../../../src/domain/agent-environment.ts";
import { launchId, projectId, sessionId } from "../../support/builders.ts";

const AO: AgentEnvironmentInput["ao"] = {
  sessionId: sessionId("app-7"),
  projectId: projectId("app"),
  issueId: "42",
  dataDir: "/data/ao",
  launchId: launchId("launch-1"),
  configPath: "/home/u/ao.yaml",
};

function environment(input: Partial<AgentEnvironmentInput> = {}): Record<string, string> {
  return agentEnvironment({ callerEnv: {}, projectEnv: {}, agentEnv: {}, ao: AO, ...input });
}

const ALL_AO = {
  AO_SESSION_ID: "app-7",
  AO_SESSION: "app-7",
  AO_SESSION_NAME: "app-7",
  AO_PROJECT_ID: "app",
  AO_ISSUE_ID: "42",
  AO_DATA_DIR: "/data/ao",
  AO_LAUNCH_ID: "launch-1",
  AO_CALLER_TYPE: "agent",
  AO_CONFIG_PATH: "/home/u/ao.yaml",
};

describe("agentEnvironment", () => {
  test("an agent is told who it is", () => {
    expect(environment()).toEqual(ALL_AO);
  });

  test("what a session does not have is not set, also not by its project", () => {
    const env = environment({
      projectEnv: { AO_ISSUE_ID: "13", AO_CONFIG_PATH: "/x" },
      agentEnv: { AO_ISSUE_ID: "14" },
      ao: { ...AO, issueId: null, configPath: null },
    });
    const { AO_ISSUE_ID: _issue, AO_CONFIG_PATH: _config, ...rest } = ALL_AO;
    expect(env).toEqual(rest);
  });

  test.each([
    "TMUX",
    "TMUX_PANE",
    "TMUX_TMPDIR",
    "TERM",
    "COLUMNS",
    "LINES",
    "AO_SESSION_ID",
    "AO_ISSUE_ID",
    "AO_PORT",
    "AO_WHATEVER",
    "GIT_QUARANTINE_PATH",
  ])("the caller's %s does not reach an agent", (name) => {
    expect(environment({ callerEnv: { [name]: "caller" } })[name]).not.toBe("caller");
  });

  test("no variable by which git finds a repository reaches an agent", () => {
    const listed = execFileSync("git", ["rev-parse", "--local-env-vars"], {
      encoding: "utf8",
      timeout: 10_000,
    });
    const names = listed.trim().split("\n");
    expect(names).toContain("GIT_DIR");
    const callerEnv = Object.fromEntries(names.map((name) => [name, "caller"]));
    expect(environment({ callerEnv })).toEqual(ALL_AO);
  });

  test.each([
    "PATH",
    "HOME",
    "LANG",
    "CI",
    "SSH_AUTH_SOCK",
    "GIT_AUTHOR_NAME",
    "GIT_SSH_COMMAND",
    "GIT_CEILING_DIRECTORIES",
    "AOX",
    "TERM_PROGRAM",
    "__proto__",
    "toString",
  ])("the caller's %s reaches an agent", (name) => {
    const callerEnv = Object.fromEntries([[name, "caller"]]);
    expect(Object.entries(environment({ callerEnv }))).toContainEqual([name, "caller"]);
  });

  test("a variable that the caller has unset is left out", () => {
    expect(Object.keys(environment({ callerEnv: { EDITOR: undefined } }))).not.toContain("EDITOR");
  });

  test("the agent's own overlays the project's, the project's the caller's", () => {
    const env = environment({
      callerEnv: { A: "caller", B: "caller", C: "caller" },
      projectEnv: { B: "project", C: "project", TERM: "project" },
      agentEnv: { C: "agent" },
    });
    expect(env).toMatchObject({ A: "caller", B: "project", C: "agent", TERM: "project" });
  });

  test("nothing overrides what an agent is told of itself, and no input is changed", () => {
    const aName = fc.oneof(fc.constantFrom(...Object.keys(ALL_AO)), fc.string());
    const anEnv = fc.dictionary(aName, fc.string());
    fc.assert(
      fc.property(anEnv, anEnv, anEnv, (callerEnv, projectEnv, agentEnv) => {
        const inputs = [callerEnv, projectEnv, agentEnv].map((env) => Object.freeze(env));
        const before = structuredClone(inputs);
        expect(agentEnvironment({ callerEnv, projectEnv, agentEnv, ao: AO })).toMatchObject(ALL_AO);
        expect(inputs).toEqual(before);
      }),
    );
  });
});
