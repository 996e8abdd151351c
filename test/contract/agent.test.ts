import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { claudeCodeAgent } from "../../src/adapters/agents/claude-code/claude-code-agent.ts";
import { codexAgent } from "../../src/adapters/agents/codex/codex-agent.ts";
import { embeddedAgent } from "../../src/adapters/agents/embedded/embedded-agent.ts";
import { createConversation } from "../../src/adapters/agents/embedded/program/conversation.ts";
import { opencodeAgent } from "../../src/adapters/agents/opencode/opencode-agent.ts";
import { databasePath } from "../../src/adapters/agents/opencode/opencode-files.ts";
import { shellAgent } from "../../src/adapters/agents/shell/shell-agent.ts";
import { memoryAgent } from "../../src/adapters/memory/agent.ts";
import { MEMORY_HOME } from "../../src/adapters/memory/agent-forks.ts";
import type { ConversationEntry } from "../../src/domain/transcript/conversation-entry.ts";
import type { Agent } from "../../src/ports/agent.ts";
import { tempDir } from "../support/temp-dir.ts";
import { importingProgram } from "../unit/adapters/agents/opencode/imports.ts";
import { fillDatabase, recordedRows } from "../unit/adapters/agents/opencode/recorded.ts";
import { agentContract } from "./agent.contract.ts";

const entryAt = (position: number): ConversationEntry => ({
  ...{ position, after: position === 1 ? null : position - 1, atMs: position },
  ...{ role: "user", text: `${position}`, edge: "start", detail: {} },
});

/** A twin, and the same for a caller with another home. */
function twin(overrides: Parameters<typeof memoryAgent>[0]) {
  const agent = memoryAgent(overrides);
  const hasConversation: Agent["hasConversation"] = (id, { home, ...place }) =>
    agent.hasConversation(id, { ...place, home: home ?? "/home/other" });
  return { agent, moved: { agent: { ...agent, hasConversation }, env: { AGENT_HOME: MEMORY_HOME } } };
}

agentContract("memory", () => {
  const { agent, moved } = twin({});
  const converse = (id: string) => {
    agent.addConversation(id);
    agent.setLog(id, [entryAt(1), entryAt(2)]);
    return [1, 2] as const;
  };
  return { agent, dataDir: "/data", know: (id) => agent.addConversation(id), converse, moved };
});

agentContract("a memory agent that forks by its own command", () => {
  const { agent, moved } = twin({ fork: "native" });
  return { agent, dataDir: "/data", know: (id) => agent.addConversation(id), moved };
});

agentContract("a memory agent that can do nothing", () => {
  const none = { pinsSessionId: false, resume: false, fork: "none", hooks: false, receipts: false } as const;
  const { agent, moved } = twin(none);
  return { agent, dataDir: "/data", know: (id) => agent.addConversation(id), moved };
});

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

agentContract("claude-code", () => {
  const home = tempDir();
  const workspacePath = "/data/worktrees/app/app-7";
  const folder = join(home, ".claude", "projects", workspacePath.replaceAll("/", "-"));
  const line = (sessionId: string, type: string, more: object) =>
    JSON.stringify({
      ...{ type, sessionId, cwd: workspacePath, timestamp: "2026-11-30T20:00:00Z" },
      ...more,
    });
  const converse = (id: string) => {
    const turn = (text: string) => [
      line(id, "user", { message: { content: text } }),
      line(id, "assistant", { message: { content: [{ type: "text", text }], stop_reason: "end_turn" } }),
    ];
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${id}.jsonl`), `${[...turn("one"), ...turn("two")].join("\n")}\n`);
    // Line by line: the end of a turn is the second part of its answer's line.
    return [201, 401] as const;
  };
  const agent = claudeCodeAgent({ env: { HOME: home }, uid: 1000 });
  const hide = (id: string) => void mkdirSync(join(folder, `${id}.jsonl`), { recursive: true });
  const other = claudeCodeAgent({ env: { HOME: tempDir() }, uid: 1000 });
  const moved = { agent: other, env: { CLAUDE_CONFIG_DIR: join(home, ".claude") } };
  return { agent, dataDir: tempDir(), know: (id) => void converse(id), hide, converse, moved };
});

agentContract("codex", () => {
  const home = tempDir();
  const folder = join(home, ".codex", "sessions", "2026", "11", "30");
  const line = (type: string, payload: object) =>
    JSON.stringify({ timestamp: "2026-11-30T20:00:00Z", type, payload });
  const converse = (id: string) => {
    const turn = (turn_id: string) => [
      line("event_msg", { type: "task_started", turn_id }),
      line("event_msg", {
        ...{ type: "item_completed", turn_id },
        item: { type: "UserMessage", content: [{ type: "text", text: turn_id }] },
      }),
      line("event_msg", { type: "task_complete", turn_id }),
    ];
    const head = line("session_meta", { id, cwd: "/data/worktrees/app/app-7" });
    mkdirSync(folder, { recursive: true });
    const log = [head, ...turn("one"), ...turn("two")].join("\n");
    writeFileSync(join(folder, `rollout-2026-11-30T20-00-00-${id}.jsonl`), `${log}\n`);
    return [4, 7] as const;
  };
  const agent = codexAgent({ env: { HOME: home } });
  const hide = (id: string) => void mkdirSync(join(folder, `rollout-1-${id}.jsonl`), { recursive: true });
  const other = codexAgent({ env: { HOME: tempDir() } });
  const moved = { agent: other, env: { CODEX_HOME: join(home, ".codex") } };
  return { agent, dataDir: tempDir(), know: (id) => void converse(id), hide, converse, moved };
});

agentContract("opencode", () => {
  const home = tempDir();
  const workspacePath = "/data/worktrees/app/app-7";
  const MS = 1_796_084_879_000;
  const converse = (id: string) => {
    const { schema, session } = recordedRows();
    const at = (second: number) => {
      const time = BigInt.asUintN(48, BigInt(MS + second * 1_000) * 4096n).toString(16);
      return {
        name: `${time.padStart(12, "0")}${id.replaceAll("-", "").slice(0, 14)}`,
        ms: MS + second * 1_000,
      };
    };
    const spoken = [0, 1, 2, 3].map((second) => {
      const { name, ms } = at(second);
      const prompt = { role: "user", time: { created: ms } };
      const answer = { role: "assistant", time: { created: ms, completed: ms + 1 }, finish: "stop" };
      const times = { session_id: id, time_created: ms, time_updated: ms };
      const data = JSON.stringify(second % 2 === 0 ? prompt : answer);
      return {
        message: { ...times, id: `msg_${name}`, data },
        part: { ...times, id: `prt_${name}`, message_id: `msg_${name}`, data: '{"type":"text","text":"x"}' },
      };
    });
    fillDatabase(home, {
      schema,
      session: session.map((row) => ({ ...row, id, directory: workspacePath })),
      message: spoken.map(({ message }) => message),
      part: spoken.map(({ part }) => part),
    });
    const position = (second: number) => (MS + second * 1_000) * 4096 + 1;
    return [position(1), position(3)] as const;
  };
  const agent = opencodeAgent({ env: { HOME: home, PATH: importingProgram(home) } });
  const places = { dataDir: tempDir(), forkWorkspace: tempDir() };
  const hide = () => {
    mkdirSync(dirname(databasePath({ HOME: home })), { recursive: true });
    writeFileSync(databasePath({ HOME: home }), "no database");
  };
  const other = opencodeAgent({ env: { HOME: tempDir(), PATH: importingProgram(home) } });
  const moved = { agent: other, env: { XDG_DATA_HOME: join(home, ".local/share") } };
  return { agent, ...places, know: (id) => void converse(id), hide, converse, moved };
});

agentContract("shell", () => ({ agent: shellAgent(), dataDir: tempDir() }));
