import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { OPENCODE_PROFILE } from "../../src/adapters/agents/opencode/opencode-profile.ts";
import { forkSchema, sendSchema } from "../support/json-schemas.ts";
import { agentsFolder, agentVersion } from "./agent-programs.ts";
import { type AgentSuite, type AgentWorld, agentWorld } from "./agent-world.ts";
import { error, hang, run, slow, text } from "./model/steps.ts";
import { agentScenarios } from "./scenarios.ts";

/** Its first start in a home takes 10 to 20 s, and several times that on a busy machine. */
vi.setConfig({ testTimeout: 400_000 });

const KEY = "sk-opencode-scripted";

/** What the first start of all installs into its home, which takes npm and its registry, for those after it. */
const warmed = mkdtempSync(join(tmpdir(), "ao-opencode-"));
afterAll(() => rmSync(warmed, { recursive: true, force: true }));
const INSTALLED = ["package.json", "package-lock.json"];

function warm(folder: string): void {
  const modules = join(warmed, "node_modules");
  if (existsSync(modules)) {
    for (const name of INSTALLED) cpSync(join(warmed, name), join(folder, name));
    symlinkSync(modules, join(folder, "node_modules"));
    return;
  }
  onTestFinished(() => {
    if (existsSync(modules) || !INSTALLED.every((name) => existsSync(join(folder, name)))) return;
    for (const name of [...INSTALLED, "node_modules"])
      cpSync(join(folder, name), join(warmed, name), { recursive: true, verbatimSymlinks: true });
  });
}

const OPENCODE: AgentSuite = {
  agent: "opencode",
  startsAlone: true,
  prepare({ home, model }) {
    const provider = {
      npm: "@ai-sdk/openai-compatible",
      name: "Scripted",
      options: { baseURL: `${model.url}/v1`, apiKey: "{env:SCRIPTED_KEY}" },
      models: { scripted: { name: "Scripted" }, other: { name: "Other" } },
    };
    const folder = join(home, ".config", "opencode");
    mkdirSync(folder, { recursive: true });
    // Without its schema opencode writes it into the file itself.
    const $schema = "https://opencode.ai/config.json";
    const settings = { $schema, model: "scripted/scripted", provider: { scripted: provider } };
    writeFileSync(join(folder, "opencode.json"), JSON.stringify(settings));
    warm(folder);
    return { SCRIPTED_KEY: KEY, OPENCODE_DISABLE_MODELS_FETCH: "1" };
  },
  secret: KEY,
  settings: ["opencode.json", "opencode.jsonc", "config.json", "tui.json"].map(
    (name) => `.config/opencode/${name}`,
  ),
  freely: [],
  asking: (file) => run(`touch ${file}`),
  askingScreen: /Permission required/,
  approve: ["Enter"],
};

agentScenarios(OPENCODE);

const outcomesOf = async (world: AgentWorld, id: string) =>
  (await world.turns(id)).map(({ outcome }) => outcome).toReversed();

const say = (world: AgentWorld, id: string, input: string) =>
  world.ao.json(sendSchema, ["send", id, "--file", "-"], { input });

const trimmed = (texts: readonly string[] | undefined) => (texts ?? []).map((said) => said.trimEnd());

describe("how a turn of opencode ends", () => {
  test("a person's Escapes while it talks, and a no at its question, interrupt it", async () => {
    const world = await agentWorld(OPENCODE);
    world.model.script("long-talk", slow());
    world.model.script("ask-me", OPENCODE.asking(join(world.ao.root, "denied")));
    const id = await world.spawn("long-talk");
    await world.eventually("it talks", async () => (await world.screen(id)).includes("word3"));
    await world.eventually("it stops", async () => {
      world.press(id, "Escape");
      return (await outcomesOf(world, id))[0] === "interrupted";
    });
    await world.until(id, "idle");

    await say(world, id, "ask-me");
    await world.until(id, "needs_input");
    await world.eventually("it asks", async () => OPENCODE.askingScreen.test(await world.screen(id)));
    world.press(id, "Escape");
    await world.until(id, "idle");
    expect(await outcomesOf(world, id)).toEqual(["interrupted", "interrupted"]);
    expect(existsSync(join(world.ao.root, "denied"))).toBe(false);
  });

  test("a cancel before the first word is confirmed, and the next message is sent alone", async () => {
    const world = await agentWorld(OPENCODE);
    world.model.script("says-nothing", hang());
    const id = await world.spawn("says-nothing");
    await world.eventually("it was asked", () => world.model.about("says-nothing").length > 0);
    await world.ao.run(["cancel", id]);
    await world.eventually("it is canceled", async () => {
      if ((await outcomesOf(world, id))[0] === "canceled") return true;
      await world.ao.run(["reconcile"]);
      return false;
    });
    await say(world, id, "after-that");
    await world.until(id, "idle");
    expect(world.model.about("after-that").at(-1)?.prompts.at(-1)).toBe("after-that");
    expect(await outcomesOf(world, id)).toEqual(["canceled", "completed"]);
  });

  test("an error of the model fails it, and the next message is taken", async () => {
    const world = await agentWorld(OPENCODE);
    world.model.script("breaks", error(400));
    const id = await world.spawn("breaks");
    await world.eventually("it failed", async () => (await outcomesOf(world, id))[0] === "failed");
    await say(world, id, "after-that");
    await world.eventually("it answered", async () => (await outcomesOf(world, id))[1] === "completed");
  });

  test("what a sub-agent does is part of it, and its conversation is not the session's", async () => {
    const world = await agentWorld(OPENCODE);
    const input = { description: "a part", prompt: "child-words", subagent_type: "general" };
    world.model.script("parent-words", { kind: "tool", name: "task", input }, text("parent done"));
    world.model.script("child-words", OPENCODE.asking(join(world.ao.root, "by-child")), text("child done"));
    const id = await world.spawn("parent-words");
    await world.until(id, "needs_input");
    await world.eventually("it asks", async () => OPENCODE.askingScreen.test(await world.screen(id)));
    world.press(id, ...OPENCODE.approve);
    await world.eventually("the tool ran", () => existsSync(join(world.ao.root, "by-child")));
    const { agentSessionId } = await world.until(id, "idle");
    expect(await outcomesOf(world, id)).toEqual(["completed"]);
    await say(world, id, "after-that");
    await world.until(id, "idle");
    expect(trimmed(world.model.about("after-that").at(-1)?.prompts)).toEqual(["parent-words", "after-that"]);
    expect((await world.row(id)).agentSessionId).toBe(agentSessionId);
  });
});

describe("a conversation of opencode", () => {
  test("is forked at its second turn of four with that past and its files, and no more", async () => {
    const world = await agentWorld(OPENCODE);
    const words = ["first-words", "second-words", "third-words", "fourth-words"];
    for (const word of words) world.model.script(word, run(`echo ${word} > said.txt`), text(`${word} done`));
    const [first = "", ...later] = words;
    const id = await world.spawn(first);
    await world.until(id, "idle");
    for (const word of later) {
      await say(world, id, word);
      await world.until(id, "idle");
    }
    const [, second] = (await world.turns(id)).toReversed();
    const argv = ["fork", id, "--at", String(second?.id), "--prompt", "fork-words"];
    const { session } = await world.ao.json(forkSchema, argv);
    await world.eventually("it was asked", async () => {
      if (world.model.about("fork-words").length > 0) return true;
      await world.ao.run(["reconcile"]);
      return false;
    });
    await world.until(session.id, "idle");

    const [request] = world.model.about("fork-words").slice(-1);
    expect(trimmed(request?.prompts)).toEqual(["first-words", "second-words", "fork-words"]);
    const asked = JSON.stringify(request?.body);
    expect(words.map((word) => asked.includes(`${word} done`))).toEqual([true, true, false, false]);
    expect(readFileSync(join(session.workspacePath, "said.txt"), "utf8")).toBe("second-words\n");
    const source = (await world.row(id)).workspacePath;
    expect(readFileSync(join(source, "said.txt"), "utf8")).toBe("fourth-words\n");
    expect(asked.includes(source)).toBe(false);
    await world.ao.run(["reconcile"]);
    const { stdout } = await world.ao.run(["transcript", "show", session.id]);
    const told = ["second-words", "fork-words", "third-words"].map((word) => stdout.includes(word));
    expect(told).toEqual([true, true, false]);

    await say(world, id, "source-words");
    await world.until(id, "idle");
    const prompts = trimmed(world.model.about("source-words").at(-1)?.prompts);
    expect(prompts).toEqual([...words, "source-words"]);
  });

  test("takes a message of 200 KB as one paste, byte for byte but for a space behind it", async () => {
    const world = await agentWorld(OPENCODE);
    const prompt = `large-prompt ${"0123456789 日本\n".repeat(11_000)}end`;
    const id = await world.spawn(prompt);
    await world.until(id, "idle");
    await world.eventually("its turn ended", async () => (await outcomesOf(world, id))[0] === "completed");
    expect(world.model.about("large-prompt").at(-1)?.prompts.at(-1)?.trimEnd()).toBe(prompt);
  });

  test("is the session's own when it comes back, though a newer one of the folder is another's", async () => {
    const world = await agentWorld(OPENCODE);
    const id = await world.spawn("own-words");
    const { agentSessionId, workspacePath } = await world.until(id, "idle");
    await world.ao.run(["kill", id]);
    expect((await world.ao.run(["restore", id])).exitCode).toBe(0);
    const env = {
      ...{ HOME: world.ao.home, PATH: `${agentsFolder()}:${process.env["PATH"]}` },
      ...{ SCRIPTED_KEY: KEY, OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_AUTOUPDATE: "1" },
    };
    const run = { cwd: workspacePath, env, extendEnv: false, stdin: "ignore" } as const;
    await execa("opencode", ["run", "foreign-words"], run);
    expect(world.model.about("foreign-words").length).toBeGreaterThan(0);
    await world.ao.run(["kill", id]);
    expect((await world.ao.run(["restore", id])).exitCode).toBe(0);
    await world.until(id, "idle");
    await say(world, id, "after-that");
    await world.until(id, "idle");
    expect(trimmed(world.model.about("after-that").at(-1)?.prompts)).toEqual(["own-words", "after-that"]);
    expect((await world.row(id)).agentSessionId).toBe(agentSessionId);
  });

  test("that never had a prompt is begun anew by a restore, which says so", async () => {
    const world = await agentWorld(OPENCODE);
    const id = await world.spawn(null);
    await world.until(id, "idle");
    await world.ao.run(["kill", id]);
    const { exitCode, stderr } = await world.ao.run(["restore", id]);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("never had a prompt")]);
    await world.until(id, "idle");
    await say(world, id, "first-words");
    await world.until(id, "idle");
    expect(trimmed(world.model.about("first-words").at(-1)?.prompts)).toEqual(["first-words"]);
  });
});

describe("what a launch of opencode is told", () => {
  test("a model, leave for everything, and the settings that the user gave by the environment", async () => {
    const world = await agentWorld(OPENCODE);
    const [file, rules] = [join(world.ao.root, "made"), join(world.ao.root, "given-rules.md")];
    world.model.script("make-it", run(`printenv OPENCODE_CONFIG_CONTENT > ${file}`));
    writeFileSync(rules, "rules of the environment");
    const given = JSON.stringify({ instructions: [rules] });
    const argv = ["spawn", "--agent", "opencode", "--permissions", "bypass", "--model", "scripted/other"];
    const { exitCode } = await world.ao.run([...argv, "--prompt-file", "-"], {
      input: "make-it",
      env: { OPENCODE_CONFIG_CONTENT: given },
    });
    expect(exitCode).toBe(0);
    await world.eventually("it was made without a question", () => existsSync(file));
    const [request] = world.model.about("make-it");
    expect(request?.body["model"]).toBe("other");
    expect(JSON.stringify(request?.body)).toContain("rules of the environment");
    // What a tool starts is not told of as if the session did it.
    await world.eventually("it ended", () => readFileSync(file, "utf8") === `${given}\n`);
  });
});

test("the version that was pinned here is the one that its adapter says it was tested with", () => {
  expect(OPENCODE_PROFILE.tested).toMatchObject({ to: agentVersion("opencode-ai") });
});
