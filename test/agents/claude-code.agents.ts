import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CLAUDE_PROFILE } from "../../src/adapters/agents/claude-code/claude-profile.ts";
import { forkSchema, sendSchema } from "../support/json-schemas.ts";
import { agentVersion } from "./agent-programs.ts";
import { type AgentSuite, type AgentWorld, agentWorld } from "./agent-world.ts";
import { error, hang, run, slow, text } from "./model/steps.ts";
import { agentScenarios } from "./scenarios.ts";

const KEY = "sk-ant-scripted";

const CLAUDE: AgentSuite = {
  agent: "claude-code",
  prepare({ home, model }) {
    // What a person has who used it before: no onboarding, and this key was approved once.
    const known = { hasCompletedOnboarding: true, customApiKeyResponses: { approved: [KEY], rejected: [] } };
    writeFileSync(join(home, ".claude.json"), JSON.stringify(known));
    return {
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    };
  },
  secret: KEY,
  settings: [".claude/settings.json", ".claude/settings.local.json"],
  freely: ["--allowedTools", "Bash"],
  asking: (file) => run(`touch ${file}`),
  askingScreen: /Do you want to proceed\?/,
  approve: ["Enter"],
};

agentScenarios(CLAUDE);

const outcomesOf = async (world: AgentWorld, id: string) =>
  (await world.turns(id)).map(({ outcome }) => outcome).toReversed();

describe("what claude tells by no hook", () => {
  test("a person's Escape while it talks, and a no at its question, end the turn", async () => {
    const world = await agentWorld(CLAUDE);
    world.model.script("long-talk", slow());
    world.model.script("ask-me", CLAUDE.asking(join(world.ao.root, "denied")));
    const id = await world.spawn("long-talk");
    await world.eventually("it talks", async () => (await world.screen(id)).includes("word3"));
    world.press(id, "Escape");
    await world.until(id, "idle");
    expect(await outcomesOf(world, id)).toEqual(["interrupted"]);

    await world.ao.json(sendSchema, ["send", id, "--file", "-"], { input: "ask-me" });
    await world.until(id, "needs_input");
    await world.eventually("it asks", async () => CLAUDE.askingScreen.test(await world.screen(id)));
    world.press(id, "3");
    await world.until(id, "idle");
    expect(await outcomesOf(world, id)).toEqual(["interrupted", "interrupted"]);
    expect(existsSync(join(world.ao.root, "denied"))).toBe(false);
  });

  test("a cancel before the first word is confirmed, and the prompt that comes back is not sent with the next one", async () => {
    const world = await agentWorld(CLAUDE);
    world.model.script("says-nothing", hang());
    const id = await world.spawn("says-nothing");
    await world.eventually("it was asked", () => world.model.about("says-nothing").length > 0);
    // On a busy machine the first try may find no evidence in its time; whoever comes next tries again.
    await world.ao.run(["cancel", id]);
    await world.eventually("it is canceled", async () => {
      if ((await outcomesOf(world, id))[0] === "canceled") return true;
      await world.ao.run(["reconcile"]);
      return false;
    });
    await world.ao.json(sendSchema, ["send", id, "--file", "-"], { input: "after-that" });
    await world.until(id, "idle");
    expect(world.model.about("after-that").at(-1)?.prompts.at(-1)).toBe("after-that");
    expect(await outcomesOf(world, id)).toEqual(["canceled", "completed"]);
  });

  test("an error of the model fails the turn, and the next message is taken", async () => {
    const world = await agentWorld(CLAUDE);
    world.model.script("breaks", error(400));
    const id = await world.spawn("breaks");
    await world.eventually("it failed", async () => (await outcomesOf(world, id))[0] === "failed");
    await world.ao.json(sendSchema, ["send", id, "--file", "-"], { input: "after-that" });
    await world.eventually("it answered", async () => (await outcomesOf(world, id))[1] === "completed");
  });
});

describe("a conversation of claude", () => {
  test("is forked at its second turn of four with that past and its files, and no more", async () => {
    const world = await agentWorld(CLAUDE);
    const words = ["first-words", "second-words", "third-words", "fourth-words"];
    for (const word of words) world.model.script(word, run(`echo ${word} > said.txt`), text(`${word} done`));
    const [first = "", ...later] = words;
    const id = await world.spawn(first, "--", ...CLAUDE.freely);
    await world.until(id, "idle");
    for (const word of later) {
      await world.ao.json(sendSchema, ["send", id, "--file", "-"], { input: word });
      await world.until(id, "idle");
    }
    const [, second] = (await world.turns(id)).toReversed();
    const argv = ["fork", id, "--at", String(second?.id), "--prompt", "fork-words"];
    const { session } = await world.ao.json(forkSchema, argv);
    await world.eventually("it was asked", () => world.model.about("fork-words").length > 0);
    await world.until(session.id, "idle");

    const prompts = world.model.about("fork-words").at(-1)?.prompts ?? [];
    expect(prompts.map((said) => said.trimEnd())).toEqual(["first-words", "second-words", "fork-words"]);
    const asked = JSON.stringify(world.model.about("fork-words").at(-1)?.body);
    expect(words.map((word) => asked.includes(`${word} done`))).toEqual([true, true, false, false]);
    expect(readFileSync(join(session.workspacePath, "said.txt"), "utf8")).toBe("second-words\n");
    const source = (await world.row(id)).workspacePath;
    expect(readFileSync(join(source, "said.txt"), "utf8")).toBe("fourth-words\n");
    await world.ao.run(["reconcile"]);
    const { stdout } = await world.ao.run(["transcript", "show", session.id]);
    expect(["second-words", "fork-words", "third-words"].map((word) => stdout.includes(word))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("begins with a prompt of 100 KB, byte for byte", async () => {
    const world = await agentWorld(CLAUDE);
    const prompt = `large-prompt ${"0123456789 日本\n".repeat(6_500)}end`;
    const id = await world.spawn(prompt);
    await world.until(id, "idle");
    expect(world.model.about("large-prompt").at(-1)?.prompts.at(-1)).toBe(prompt);
  });

  test("is the session's own when it comes back, though a newer one of the folder is another's", async () => {
    const world = await agentWorld(CLAUDE);
    const id = await world.spawn("own-words");
    const { agentSessionId, workspacePath } = await world.until(id, "idle");
    const folder = join(world.ao.home, ".claude", "projects", workspacePath.replace(/[^A-Za-z0-9]/g, "-"));
    const own = readFileSync(join(folder, `${agentSessionId}.jsonl`), "utf8");
    const stranger = "0b0b5f62-6b52-4a6f-8a4a-3c1d5e9f7a21";
    const foreign = own.replaceAll(String(agentSessionId), stranger).replaceAll("own-words", "foreign-words");
    await world.ao.run(["kill", id]);
    writeFileSync(join(folder, `${stranger}.jsonl`), foreign);
    expect((await world.ao.run(["restore", id])).exitCode).toBe(0);
    await world.ao.json(sendSchema, ["send", id, "--file", "-"], { input: "after-that" });
    await world.until(id, "idle");
    const prompts = world.model.about("after-that").at(-1)?.prompts ?? [];
    expect(prompts.map((said) => said.trimEnd())).toEqual(["own-words", "after-that"]);
    expect((await world.row(id)).agentSessionId).toBe(agentSessionId);
  });

  test("that never had a prompt is begun anew by a restore, which says so", async () => {
    const world = await agentWorld(CLAUDE);
    const id = await world.spawn(null);
    await world.until(id, "idle");
    await world.ao.run(["kill", id]);
    const { exitCode, stderr } = await world.ao.run(["restore", id]);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("never had a prompt")]);
    await world.ao.json(sendSchema, ["send", id, "--file", "-"], { input: "first-words" });
    await world.until(id, "idle");
    expect(world.model.about("first-words").at(-1)?.prompts).toEqual(["first-words"]);
  });
});

test("the version that was pinned here is the one that its adapter says it was tested with", () => {
  expect(CLAUDE_PROFILE.tested).toMatchObject({ to: agentVersion("@anthropic-ai/claude-code") });
});

test.runIf(process.getuid?.() === 0)(
  "bypass is refused to root before anything is made, but not in a sandbox",
  async () => {
    const world = await agentWorld(CLAUDE);
    const argv = ["spawn", "--agent", "claude-code", "--permissions", "bypass", "--prompt-file", "-"];
    const refused = await world.ao.run(argv, { input: "make-it" });
    expect([refused.exitCode, refused.stderr]).toEqual([expect.any(Number), expect.stringContaining("root")]);
    expect(refused.exitCode).not.toBe(0);
    const file = join(world.ao.root, "made");
    world.model.script("make-it", run(`touch ${file}`));
    const allowed = await world.ao.run(argv, { input: "make-it", env: { IS_SANDBOX: "1" } });
    expect(allowed.exitCode).toBe(0);
    await world.eventually("it was made without a question", () => existsSync(file));
  },
);
