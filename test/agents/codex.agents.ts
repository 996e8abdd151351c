import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findRollout } from "../../src/adapters/agents/codex/codex-files.ts";
import { CODEX_PROFILE } from "../../src/adapters/agents/codex/codex-profile.ts";
import { git } from "../support/ao.ts";
import { cancelSchema, forkSchema, sendSchema } from "../support/json-schemas.ts";
import { agentVersion } from "./agent-programs.ts";
import { type AgentSuite, type AgentWorld, agentWorld } from "./agent-world.ts";
import { error, run, slow, text } from "./model/steps.ts";
import { agentScenarios } from "./scenarios.ts";

const KEY = "sk-codex-scripted";

const CODEX: AgentSuite = {
  agent: "codex",
  prepare({ home, model }) {
    mkdirSync(join(home, ".codex"));
    // What a person has who used it before; the last lines are those that codex writes at its first start.
    const settings = [
      'model = "scripted"',
      'model_provider = "scripted"',
      "",
      "[model_providers.scripted]",
      'name = "scripted"',
      `base_url = "${model.url}/v1"`,
      'env_key = "SCRIPTED_KEY"',
      'wire_api = "responses"',
      "",
      "[tui]",
      "screen_reader_detection_done = true",
      "",
      "[tui.model_availability_nux]",
      '"gpt-6.1-sol" = 4',
      "",
    ];
    writeFileSync(join(home, ".codex", "config.toml"), settings.join("\n"));
    return { SCRIPTED_KEY: KEY };
  },
  secret: KEY,
  settings: [".codex/config.toml", ".codex/hooks.json", ".codex/AGENTS.md"],
  freely: ["--sandbox", "danger-full-access", "--ask-for-approval", "never"],
  asking: (file) => ({ kind: "run", command: `touch ${file}`, asks: true }),
  askingScreen: /Would you like to run the following command\?/,
  approve: ["y"],
};

agentScenarios(CODEX);

const outcomesOf = async (world: AgentWorld, id: string) =>
  (await world.turns(id)).map(({ outcome }) => outcome).toReversed();

const send = (world: AgentWorld, id: string, input: string) =>
  world.ao.json(sendSchema, ["send", id, "--file", "-"], { input });

describe("what codex tells by no hook, or leaves behind", () => {
  test("a person's Escape while it talks, and at its question, end the turn", async () => {
    const world = await agentWorld(CODEX);
    world.model.script("long-talk", slow());
    world.model.script("ask-me", CODEX.asking(join(world.ao.root, "denied")));
    const id = await world.spawn("long-talk");
    await world.eventually("it talks", async () => (await world.screen(id)).includes("word3"));
    world.press(id, "Escape");
    await world.until(id, "idle");
    expect(await outcomesOf(world, id)).toEqual(["interrupted"]);

    await send(world, id, "ask-me");
    await world.until(id, "needs_input");
    await world.eventually("it asks", async () => CODEX.askingScreen.test(await world.screen(id)));
    world.press(id, "Escape");
    await world.until(id, "idle");
    expect(await outcomesOf(world, id)).toEqual(["interrupted", "interrupted"]);
    expect(existsSync(join(world.ao.root, "denied"))).toBe(false);
  });

  test("an error of the model fails the turn, which its log alone tells, and the next message is taken", async () => {
    const world = await agentWorld(CODEX);
    world.model.script("breaks", error(400));
    const id = await world.spawn("breaks");
    await world.eventually("it failed", async () => (await outcomesOf(world, id))[0] === "failed");
    const [failed] = await world.turns(id);
    expect(failed).toMatchObject({ errorMessage: expect.stringContaining("scripted 400") });
    await send(world, id, "after-that");
    await world.eventually("it answered", async () => (await outcomesOf(world, id))[1] === "completed");
  });

  test("a cancel ends the tool that its Escape leaves running, and no other", async () => {
    const world = await agentWorld(CODEX);
    const [earlier, later] = [join(world.ao.root, "earlier"), join(world.ao.root, "later")];
    const input = { cmd: `echo $$ > ${earlier}; sleep 300`, yield_time_ms: 500 };
    world.model.script("serve", { kind: "tool", name: "exec_command", input });
    world.model.script("run-long", run(`trap '' TERM; echo $$ > ${later}; sleep 300; sleep 300`));
    const id = await world.spawn("serve", "--", ...CODEX.freely);
    await world.until(id, "idle");
    await send(world, id, "run-long");
    const pidIn = (file: string) => existsSync(file) && Number(readFileSync(file, "utf8"));
    const pid = await world.eventually("its tool runs", () => pidIn(later) || undefined);
    const canceled = await world.ao.json(cancelSchema, ["cancel", id]);
    expect(canceled).toMatchObject({ outcome: "canceled" });
    await world.eventually("its tool is gone", () => !existsSync(`/proc/${pid}`));
    expect(existsSync(`/proc/${pidIn(earlier)}`)).toBe(true);
    await send(world, id, "after-that");
    await world.until(id, "idle");
    expect((await world.ao.run(["kill", id])).exitCode).toBe(0);
    await world.eventually("the other is gone too", () => !existsSync(`/proc/${pidIn(earlier)}`));
  });

  test("the prompt of a sub-agent is no turn, and the conversation stays the session's", async () => {
    const world = await agentWorld(CODEX);
    const name = "multi_agent_v1.spawn_agent";
    world.model.script("parent-words", { kind: "tool", name, input: { message: "sub-words" } }, text("said"));
    const id = await world.spawn("parent-words");
    await world.eventually("the sub-agent asks", () => world.model.about("sub-words").length > 0);
    await world.until(id, "idle");
    const { agentSessionId } = await world.row(id);
    await send(world, id, "after-that");
    await world.until(id, "idle");
    expect(await outcomesOf(world, id)).toEqual(["completed", "completed"]);
    expect((await world.row(id)).agentSessionId).toBe(agentSessionId);
    expect(world.model.about("after-that").at(-1)?.prompts[0]).toBe("parent-words");
  });

  test("no daemon, and nothing of it after a kill", async () => {
    const world = await agentWorld(CODEX);
    const id = await world.spawn("first-words");
    await world.until(id, "idle");
    const daemons = () => processesOf(world).filter((line) => line.includes("app-server"));
    expect(processesOf(world).length).toBeGreaterThan(0);
    expect(daemons()).toEqual([]);
    expect((await world.ao.run(["kill", id])).exitCode).toBe(0);
    expect(processesOf(world)).toEqual([]);
    expect(existsSync(join(world.ao.home, ".codex", "packages"))).toBe(false);
  });

  test("a hook that the repository brings is not trusted for a person, and no prompt answers that question", async () => {
    const world = await agentWorld(CODEX);
    const file = join(world.ao.root, "hooked");
    mkdirSync(join(world.repository, ".codex"));
    const hooks = { SessionStart: [{ hooks: [{ type: "command", command: `touch ${file}` }] }] };
    writeFileSync(join(world.repository, ".codex", "hooks.json"), JSON.stringify({ hooks }));
    git(world.repository, "add", ".codex");
    git(world.repository, "commit", "-qm", "Bring a hook");
    const id = await world.spawn(null);
    await world.until(id, "needs_input");
    expect(await world.screen(id)).toMatch(/1 hook is new or changed/);
    const sent = await world.ao.run(["send", id, "first-words", "--timeout", "1", "--json"]);
    expect(JSON.parse(sent.stdout)).toMatchObject({ state: "queued" });
    expect(await world.screen(id)).toMatch(/1 hook is new or changed/);
    expect(existsSync(file)).toBe(false);
  });
});

/** The command lines of what agents of this world run. */
function processesOf({ ao }: AgentWorld): readonly string[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      const isOurs = readFileSync(`/proc/${pid}/environ`, "latin1").includes(`AO_DATA_DIR=${ao.dataDir}\0`);
      return isOurs ? [readFileSync(`/proc/${pid}/cmdline`, "latin1")] : [];
    } catch {
      return [];
    }
  });
}

describe("a conversation of codex", () => {
  test("is forked at its second turn of four with that past and its files, and no more", async () => {
    const world = await agentWorld(CODEX);
    const words = ["first-words", "second-words", "third-words", "fourth-words"];
    for (const word of words) world.model.script(word, run(`echo ${word} > said.txt`), text(`${word} done`));
    const [first = "", ...later] = words;
    const id = await world.spawn(first, "--", ...CODEX.freely);
    await world.until(id, "idle");
    for (const word of later) {
      await send(world, id, word);
      await world.until(id, "idle");
    }
    const [, second] = (await world.turns(id)).toReversed();
    const argv = ["fork", id, "--at", String(second?.id), "--prompt", "fork-words"];
    const { session } = await world.ao.json(forkSchema, argv);
    await world.eventually("it was asked", () => world.model.about("fork-words").length > 0);
    await world.until(session.id, "idle");

    expect(world.model.about("fork-words").at(-1)?.prompts).toEqual([
      "first-words",
      "second-words",
      "fork-words",
    ]);
    const asked = JSON.stringify(world.model.about("fork-words").at(-1)?.body);
    expect(words.map((word) => asked.includes(`${word} done`))).toEqual([true, true, false, false]);
    expect(readFileSync(join(session.workspacePath, "said.txt"), "utf8")).toBe("second-words\n");
    const source = await world.row(id);
    expect(readFileSync(join(source.workspacePath, "said.txt"), "utf8")).toBe("fourth-words\n");
    expect((await world.row(session.id)).agentSessionId).not.toBe(source.agentSessionId);
    await world.ao.run(["reconcile"]);
    const { stdout } = await world.ao.run(["transcript", "show", session.id]);
    expect(["second-words", "fork-words", "third-words"].map((word) => stdout.includes(word))).toEqual([
      true,
      true,
      false,
    ]);
    world.model.script("where", run("pwd > where.txt"));
    await send(world, session.id, "where");
    await world.until(session.id, "idle");
    expect(readFileSync(join(session.workspacePath, "where.txt"), "utf8")).toBe(`${session.workspacePath}\n`);
  });

  test("begins with a prompt of 100 KB, byte for byte", async () => {
    const world = await agentWorld(CODEX);
    const prompt = `large-prompt ${"0123456789 日本\n".repeat(6_500)}end`;
    const id = await world.spawn(prompt);
    await world.until(id, "idle");
    expect(world.model.about("large-prompt").at(-1)?.prompts.at(-1)).toBe(prompt);
  });

  test("is the session's own when it comes back, though a newer one of the folder is another's", async () => {
    const world = await agentWorld(CODEX);
    const id = await world.spawn("own-words");
    const { agentSessionId } = await world.until(id, "idle");
    const own = await rolloutOf(world, String(agentSessionId));
    const stranger = "0b0b5f62-6b52-4a6f-8a4a-3c1d5e9f7a21";
    const foreign = readFileSync(own, "utf8")
      .replaceAll(String(agentSessionId), stranger)
      .replaceAll("own-words", "foreign-words");
    await world.ao.run(["kill", id]);
    writeFileSync(own.replace(String(agentSessionId), stranger), foreign);
    expect((await world.ao.run(["restore", id])).exitCode).toBe(0);
    await send(world, id, "after-that");
    await world.until(id, "idle");
    expect(world.model.about("after-that").at(-1)?.prompts).toEqual(["own-words", "after-that"]);
    expect((await world.row(id)).agentSessionId).toBe(agentSessionId);
  });

  test("whose log is gone is not taken for another one", async () => {
    const world = await agentWorld(CODEX);
    const id = await world.spawn("own-words");
    const { agentSessionId } = await world.until(id, "idle");
    await world.ao.run(["kill", id]);
    rmSync(await rolloutOf(world, String(agentSessionId)));
    expect(await world.ao.error(["restore", id])).toMatchObject({ code: "agent_session_unknown" });
  });

  test("that never had a prompt is begun anew by a restore, which says so", async () => {
    const world = await agentWorld(CODEX);
    const id = await world.spawn(null);
    await world.until(id, "idle");
    await world.ao.run(["kill", id]);
    const { exitCode, stderr } = await world.ao.run(["restore", id]);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("never had a prompt")]);
    await send(world, id, "first-words");
    await world.until(id, "idle");
    expect(world.model.about("first-words").at(-1)?.prompts).toEqual(["first-words"]);
  });
});

function rolloutOf(world: AgentWorld, id: string): Promise<string> {
  return world.eventually("its log is there", () => findRollout(join(world.ao.home, ".codex"), id));
}

test("bypass asks for nothing, and the model is the one that was chosen", async () => {
  const world = await agentWorld(CODEX);
  world.model.script("make-it", run("touch made"));
  const id = await world.spawn("make-it", "--permissions", "bypass", "--model", "other-model");
  await world.until(id, "idle");
  expect(await world.gitStatus(id)).toBe("?? made");
  expect(await world.screen(id)).toMatch(/permissions: YOLO mode/);
  expect(world.model.about("make-it")[0]?.body["model"]).toBe("other-model");
});

test("the version that was pinned here is the one that its adapter says it was tested with", () => {
  expect(CODEX_PROFILE.tested).toMatchObject({ to: agentVersion("@openai/codex") });
});

describe("codex in a home that the project's env names", () => {
  test("comes back with its own conversation, and an error that its log alone tells is heard", async () => {
    const world = await agentWorld(CODEX);
    const home = join(world.ao.root, "moved");
    renameSync(join(world.ao.home, ".codex"), home);
    writeFileSync(join(world.repository, "ao.yaml"), `env:\n  CODEX_HOME: ${JSON.stringify(home)}\n`);
    world.model.script("breaks", error(400));
    const id = await world.spawn("first-words");
    await world.until(id, "idle");
    await send(world, id, "breaks");
    await world.eventually("it failed", async () => (await outcomesOf(world, id))[1] === "failed");
    expect((await world.ao.run(["kill", id])).exitCode).toBe(0);
    expect((await world.ao.run(["restore", id], { cwd: world.ao.root })).exitCode).toBe(0);
    expect(await send(world, id, "after-words")).toMatchObject({ state: "delivered" });
    await world.until(id, "idle");
    const [request] = world.model.about("after-words");
    expect(request?.prompts.some((prompt) => prompt.includes("first-words"))).toBe(true);
    expect(existsSync(join(world.ao.home, ".codex", "sessions"))).toBe(false);
  });
});
