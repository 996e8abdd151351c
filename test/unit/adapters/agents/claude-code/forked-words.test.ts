import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { claudeCodeAgent } from "../../../../../src/adapters/agents/claude-code/claude-code-agent.ts";
import type { SessionId } from "../../../../../src/domain/ids.ts";
import { forkSession } from "../../../../../src/lifecycle/forks/fork-session.ts";
import { killSession } from "../../../../../src/lifecycle/kill/kill-session.ts";
import { observeSessions } from "../../../../../src/lifecycle/observe/observe-sessions.ts";
import { readPage } from "../../../../../src/lifecycle/transcripts/read-page.ts";
import { sessionId } from "../../../../support/builders.ts";
import { tempDir } from "../../../../support/temp-dir.ts";
import { aWorld, type World } from "../../../../support/world.ts";

const SOURCE = sessionId("app-1");
const FORK = sessionId("app-2");

/** A session whose agent keeps its conversation where and as claude does. */
async function aClaudeWorld() {
  const folder = tempDir();
  const plain = aWorld({ callerEnv: { PATH: "/bin", AGENT_HOME: folder } });
  const { fork, readConversation } = claudeCodeAgent({ env: { CLAUDE_CONFIG_DIR: folder }, uid: 1000 });
  if (fork === undefined || readConversation === undefined) throw new Error("claude keeps no log");
  const agent = { ...plain.agent, fork, readConversation };
  const agents = new Map([[agent.name, agent]]);
  const world: World = { ...plain, deps: { ...plain.deps, agents, checkpoints: plain.snapshots } };
  await world.spawn({ prompt: null });
  await observeSessions(world.deps);

  /** One turn, of which hooks tell no words. */
  async function say(id: SessionId, text: string): Promise<void> {
    const { agentSessionId, workspacePath: cwd } = world.row(id).metadata;
    const project = join(folder, "projects", cwd.replace(/[^A-Za-z0-9]/g, "-"));
    mkdirSync(project, { recursive: true });
    await world.hear(id, "submit", { body: text });
    world.clock.advance(40);
    const common = { sessionId: agentSessionId, cwd, timestamp: new Date(world.clock.nowMs()).toISOString() };
    const answer = { content: [{ type: "text", text: `re ${text}` }], stop_reason: "end_turn" };
    for (const record of [
      { ...common, type: "user", message: { role: "user", content: text } },
      { ...common, type: "assistant", message: { role: "assistant", ...answer } },
    ]) {
      appendFileSync(join(project, `${agentSessionId}.jsonl`), `${JSON.stringify(record)}\n`);
    }
    world.clock.advance(2_000);
    await world.hear(id, "stop");
    await observeSessions(world.deps, [id]);
    world.clock.advance(3_000);
  }
  const texts = async (id: SessionId) =>
    (await readPage(world.deps, id, { first: 0, limit: 100 })).messages.map(({ message }) => message.text);
  return { world, say, texts };
}

test("a fork of claude has what was said through its turn once, and then its own words", async () => {
  const { world, say, texts } = await aClaudeWorld();
  for (const text of ["one", "two", "three", "four"]) await say(SOURCE, text);
  const [, , second] = world.deps.turns.ofSession(SOURCE, 9).turns;
  const { record } = await forkSession(world.deps, SOURCE, {
    ...{ turnId: second?.turnId ?? null, branch: null, prompt: null, title: null },
    settings: world.settings,
  });
  expect(record.metadata.fork?.inheritedThrough).toEqual(expect.any(Number));
  const past = ["one", "re one", "completed", "two", "re two", "completed"];
  expect(await texts(FORK)).toEqual(past);
  await say(FORK, "five");
  const silently = { note: null, keepWorktree: false, callerSessionId: null };
  await killSession(world.deps, FORK, { reason: "manual", ...silently });
  expect(await texts(FORK)).toEqual([...past, "five", "re five", "completed"]);
});
