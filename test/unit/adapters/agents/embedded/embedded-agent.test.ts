import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { embeddedAgent } from "../../../../../src/adapters/agents/embedded/embedded-agent.ts";
import { parseProgramArgs } from "../../../../../src/adapters/agents/embedded/program/program-args.ts";
import { PROGRAM_VERSION } from "../../../../../src/adapters/agents/embedded/program-version.ts";
import type { LaunchPlan } from "../../../../../src/ports/agent.ts";
import { tempDir } from "../../../../support/temp-dir.ts";
import { aLaunchRequest } from "../launch-request.ts";

const ID = "5f0c1f6e-0d5b-4b8e-9c8e-2f4f7a8b9c0d";
const agent = embeddedAgent({ programPath: "/opt/agent.js", nodePath: "/usr/bin/node" });

const understood = (plan: LaunchPlan) => parseProgramArgs(plan.argv.slice(2));

describe("the embedded agent", () => {
  test("is started by the given Node on the given program", () => {
    const { argv } = agent.launch(aLaunchRequest({ agentSessionId: ID }));
    expect(argv.slice(0, 2)).toEqual(["/usr/bin/node", "/opt/agent.js"]);
  });

  test("understands its own launch", () => {
    const request = aLaunchRequest({
      agentSessionId: ID,
      promptFile: "/data/p",
      model: "-m",
      permissions: "bypass",
    });
    expect(understood(agent.launch(request))).toEqual({
      kind: "run",
      start: { kind: "new", id: ID },
      promptFile: "/data/p",
      model: "-m",
    });
  });

  test("understands its own resumption", () => {
    expect(understood(agent.resume(aLaunchRequest({ agentSessionId: ID })))).toEqual({
      kind: "run",
      start: { kind: "resume", id: ID },
      promptFile: null,
      model: null,
    });
  });

  test("is found at its path, whatever the search path is", async () => {
    const programPath = join(tempDir(), "agent.js");
    writeFileSync(programPath, "");
    const found = await embeddedAgent({ programPath, nodePath: "node" }).check("");
    expect(found).toEqual({ kind: "ok", version: PROGRAM_VERSION, path: programPath });
  });

  test("is missing, with what to do, when it was not built", async () => {
    const programPath = join(tempDir(), "agent.js");
    const found = await embeddedAgent({ programPath, nodePath: "node" }).check("/bin");
    expect(found).toEqual({ kind: "missing", hint: expect.stringContaining("npm run build") });
  });

  test("does not take a conversation for kept that it could not read", async () => {
    const dataDir = tempDir();
    writeFileSync(join(dataDir, "embedded"), "a file where a folder should be");
    expect(await agent.hasConversation(ID, { dataDir, workspacePath: "/", home: null })).toBe(false);
  });
});
