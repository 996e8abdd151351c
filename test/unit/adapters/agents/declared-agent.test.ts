import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  keepDeclarations,
  readDeclarations,
} from "../../../../src/adapters/agents/declared/declaration-files.ts";
import { declaredAgent } from "../../../../src/adapters/agents/declared/declared-agent.ts";
import { KNOWN_AGENTS } from "../../../../src/adapters/agents/declared/known-agents.ts";
import { type AgentDeclaration, ANY_DECLARATION } from "../../../../src/ports/agent-declaration.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { aLaunchRequest } from "./launch-request.ts";

const FULL: AgentDeclaration = {
  ...ANY_DECLARATION,
  name: "mine",
  command: ["mine", "--dir={workspace}"],
  prompt: "file",
  promptArgs: ["--task", "{promptFile}"],
  modelArgs: ["-m", "{model}"],
  sessionIdArgs: ["--id", "{sessionId}"],
  resume: ["mine", "resume", "{sessionId}"],
  conversationFile: "~/.mine/{sessionId}.json",
  permissions: { default: ["--ask"], bypass: ["--yes"] },
  hooks: ["submitted", "stopped", "interrupted"],
  interrupt: ["C-c"],
};

describe("a declared agent", () => {
  test("is started with what its declaration says, each placeholder filled as it is, and the prompt by its file", () => {
    const request = aLaunchRequest({
      ...{ model: "m 1; {sessionId}", permissions: "bypass", agentSessionId: "c-1" },
      ...{ promptFile: "/launch/prompt", extraArgs: ["--flag", "{model}"] },
    });
    const { argv } = declaredAgent(FULL, {}).launch(request);
    expect(argv).toEqual([
      ...["mine", `--dir=${request.workspacePath}`, "--id", "c-1"],
      ...["--yes", "-m", "m 1; {sessionId}", "--task", "/launch/prompt", "--flag", "{model}"],
    ]);
  });

  test("gets its prompt on standard input where it says so, and no argument for none", () => {
    const agent = declaredAgent({ ...FULL, prompt: "stdin", promptArgs: [] }, {});
    const start = (promptFile: string | null) =>
      agent.launch(aLaunchRequest({ promptFile, agentSessionId: "c-1" }));
    expect(start("/launch/prompt").stdinPath).toBe("/launch/prompt");
    expect(start(null).stdinPath).toBeUndefined();
  });

  test("has the modes, receipts and keys that it declares, and can be stopped only if it tells that it was", () => {
    const { capabilities, cancel } = declaredAgent(FULL, {});
    expect(capabilities).toMatchObject({ hooks: true, receipts: true, pinsSessionId: true, resume: true });
    expect(capabilities.permissionModes).toEqual(["default", "bypass"]);
    expect(cancel).toEqual({ kind: "keys", keys: ["C-c"] });
    expect(declaredAgent({ ...FULL, hooks: [] }, {}).cancel).toBeUndefined();
  });

  test("has a conversation exactly as long as its file is there", async () => {
    const home = tempDir();
    const agent = declaredAgent(FULL, { HOME: home });
    const has = (id: string) => agent.hasConversation(id, { dataDir: "/", workspacePath: "/", home: null });
    expect(await has("c-1")).toBe(false);
    mkdirSync(join(home, ".mine"));
    writeFileSync(join(home, ".mine", "c-1.json"), "");
    expect(await has("c-1")).toBe(true);
    expect(await has("../.mine/c-1")).toBe(false);
  });

  test("tells the version that its program prints, and only when it is asked for", async () => {
    const folder = tempDir();
    writeFileSync(join(folder, "mine"), "#!/bin/sh\necho mine version 3.14.2\n");
    chmodSync(join(folder, "mine"), 0o755);
    const agent = declaredAgent(FULL, { PATH: folder });
    const path = `${folder}:/usr/bin:/bin`;
    expect(await agent.check(path)).toMatchObject({ kind: "ok", version: "3.14.2" });
    expect(await agent.check(path, "presence")).toMatchObject({ kind: "ok", version: "unknown" });
    expect(await agent.check("/nowhere")).toMatchObject({ kind: "missing" });
  });

  test("is kept for commands in other places, and replaced by a newer word", () => {
    const folder = join(tempDir(), "agents");
    keepDeclarations(folder, [FULL]);
    keepDeclarations(folder, [{ ...FULL, command: ["mine", "--new"] }]);
    writeFileSync(join(folder, "torn.json"), "{");
    expect(readDeclarations(folder)).toEqual([{ ...FULL, command: ["mine", "--new"] }]);
  });

  test("leaves no draft when it cannot be kept", () => {
    const folder = join(tempDir(), "agents");
    mkdirSync(join(folder, "mine.json"), { recursive: true });
    expect(() => keepDeclarations(folder, [FULL])).toThrow();
    expect(readdirSync(folder)).toEqual(["mine.json"]);
  });
});

test("every known agent says that it was not run, has a default mode, and never carries a prompt", () => {
  for (const one of KNOWN_AGENTS) {
    expect(one.tested).toBeNull();
    expect(one.permissions.default).toBeDefined();
    const { argv } = declaredAgent(one, {}).launch(aLaunchRequest({ promptFile: null }));
    expect(argv.join(" ")).not.toContain("{");
  }
  expect(KNOWN_AGENTS.map(({ name }) => name)).toEqual([
    "aider",
    "gemini",
    "cursor",
    "goose",
    "amp",
    "copilot",
  ]);
});
