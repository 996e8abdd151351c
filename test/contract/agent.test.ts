import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { embeddedAgent } from "../../src/adapters/agents/embedded/embedded-agent.ts";
import { createConversation } from "../../src/adapters/agents/embedded/program/conversation.ts";
import { shellAgent } from "../../src/adapters/agents/shell/shell-agent.ts";
import { memoryAgent } from "../../src/adapters/memory/agent.ts";
import type { ConversationEntry } from "../../src/domain/transcript/conversation-entry.ts";
import { tempDir } from "../support/temp-dir.ts";
import { agentContract } from "./agent.contract.ts";

const entryAt = (position: number): ConversationEntry => ({
  ...{ position, after: position === 1 ? null : position - 1, atMs: position },
  ...{ role: "user", text: `${position}`, edge: "start", detail: {} },
});

agentContract("memory", () => {
  const agent = memoryAgent();
  const converse = (id: string) => {
    agent.addConversation(id);
    agent.setLog(id, [entryAt(1), entryAt(2)]);
    return [1, 2] as const;
  };
  return { agent, dataDir: "/data", know: agent.addConversation, converse };
});

agentContract("a memory agent that forks by its own command", () => {
  const agent = memoryAgent({ fork: "native" });
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
    converse: (id) => {
      const held = createConversation({ dir: conversations, id });
      const turn = (text: string) => {
        held.append({ kind: "prompt", text });
        return held.append({ kind: "turn_end", outcome: "completed", error: null }).position;
      };
      return [turn("one"), turn("two")];
    },
  };
});

agentContract("shell", () => ({ agent: shellAgent(), dataDir: tempDir() }));
