import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { embeddedAgent } from "../../src/adapters/agents/embedded/embedded-agent.ts";
import { shellAgent } from "../../src/adapters/agents/shell/shell-agent.ts";
import { memoryAgent } from "../../src/adapters/memory/agent.ts";
import { tempDir } from "../support/temp-dir.ts";
import { agentContract } from "./agent.contract.ts";

agentContract("memory", () => {
  const agent = memoryAgent();
  return { agent, dataDir: "/data", know: agent.addConversation };
});

agentContract("a memory agent that can do nothing", () => ({
  agent: memoryAgent({ pinsSessionId: false, resume: false, fork: "none", hooks: false, receipts: false }),
  dataDir: "/data",
}));

agentContract("embedded", () => {
  const dataDir = tempDir();
  const conversations = join(dataDir, "embedded");
  return {
    agent: embeddedAgent({ programPath: "/opt/ao/dist/embedded-agent.js", nodePath: "/usr/bin/node" }),
    dataDir,
    know: (id) => {
      mkdirSync(conversations, { recursive: true });
      writeFileSync(join(conversations, `${id}.jsonl`), "");
    },
  };
});

agentContract("shell", () => ({ agent: shellAgent(), dataDir: tempDir() }));
