import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { cancelSchema, reconcileSchema, sendSchema } from "../support/json-schemas.ts";
import { type AgentSuite, type AgentWorld, agentWorld, watchProcesses } from "./agent-world.ts";
import { run, slow, text } from "./model/steps.ts";

/** Settled turns as `outcome` words, oldest first. */
const outcomes = (turns: readonly { readonly outcome: string | null }[]) =>
  turns.map(({ outcome }) => outcome).toReversed();

function contentsOf(home: string, files: readonly string[]): Readonly<Record<string, string | null>> {
  const read = (file: string) =>
    existsSync(join(home, file)) ? readFileSync(join(home, file), "utf8") : null;
  return Object.fromEntries(files.map((file) => [file, read(file)]));
}

/** A home in which several of it may be started at once. */
async function startedBefore(suite: AgentSuite): Promise<AgentWorld> {
  const world = await agentWorld(suite);
  if (suite.startsAlone === true) await world.until(await world.spawn("first-start"), "idle");
  return world;
}

/** What every agent passes, with its real program. */
export function agentScenarios(suite: AgentSuite): void {
  describe(`${suite.agent}, the real one`, () => {
    test("takes its first prompt and messages, its turns are told, and nothing of it is seen outside", async () => {
      const world = await agentWorld(suite);
      world.model.script("first-words", run("touch made-by-the-model"), text("first-answer"));
      world.model.script("second-words", text("second-answer"));
      const before = contentsOf(world.ao.home, suite.settings);
      const watch = watchProcesses();
      // Other suites of this machine say the same words.
      const mark = randomUUID();
      const prompt = `first-words of a prompt ${mark}\nwith a second line, 日本, and \`$(touch never)\``;
      const id = await world.spawn(prompt, "--", ...suite.freely);
      await world.until(id, "idle");
      expect(outcomes(await world.turns(id))).toEqual(["completed"]);
      expect(await world.gitStatus(id)).toBe("?? made-by-the-model");

      const sent = await world.ao.json(sendSchema, ["send", id, "--file", "-"], {
        input: `second-words; and more ${mark}`,
      });
      expect(sent).toMatchObject({ state: "delivered" });
      await world.until(id, "idle");
      expect(outcomes(await world.turns(id))).toEqual(["completed", "completed"]);
      watch.stop();
      expect(world.model.about("first-words").at(-1)?.prompts.at(-1)?.trimEnd()).toBe(prompt);
      expect(world.model.about("second-words")[0]?.prompts.map((prompt) => prompt.slice(0, 12))).toEqual([
        "first-words ",
        "second-words",
      ]);
      const shown = [...watch.seen].filter((line) => line.includes(mark) || line.includes(suite.secret));
      expect(shown).toEqual([]);
      expect(contentsOf(world.ao.home, suite.settings)).toEqual(before);
    });

    test("waits for permission, takes no message meanwhile, and goes on when it was given", async () => {
      const world = await agentWorld(suite);
      const file = join(world.ao.root, "allowed");
      world.model.script("ask-me", suite.asking(file), text("went on"));
      const id = await world.spawn("ask-me");
      await world.until(id, "needs_input");
      await world.eventually("its prompt shows", async () => suite.askingScreen.test(await world.screen(id)));
      const { exitCode, stdout } = await world.ao.run([
        "send",
        id,
        "no, stop that please",
        "--timeout",
        "1",
        "--json",
      ]);
      expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { state: "queued" }]);
      expect(existsSync(file)).toBe(false);
      world.press(id, ...suite.approve);
      await world.eventually("the tool ran", () => existsSync(file));
      await world.until(id, "idle");
      expect(outcomes(await world.turns(id))).toEqual(["completed"]);
    });

    test("takes for words what would be a command of its own, as a first prompt and as a message", async () => {
      const world = await agentWorld(suite);
      const never = join(world.ao.root, "never");
      const words = [`!touch ${never}`, "/help with that", "/compact"];
      const [first = "", ...later] = words;
      const id = await world.spawn(first, "--", ...suite.freely);
      await world.until(id, "idle");
      for (const word of later) {
        const sent = await world.ao.json(sendSchema, ["send", id, "--file", "-"], { input: word });
        expect(sent).toMatchObject({ state: "delivered" });
        await world.until(id, "idle");
      }
      const { prompts = [] } = world.model.about("/compact").at(-1) ?? {};
      expect(prompts.map((said) => said.trim())).toEqual(words);
      expect(outcomes(await world.turns(id))).toEqual(["completed", "completed", "completed"]);
      expect(existsSync(never)).toBe(false);
    });

    test("stops its turn when it is told to, and takes the next message", async () => {
      const world = await agentWorld(suite);
      world.model.script("long-talk", slow());
      const id = await world.spawn("long-talk");
      await world.eventually("it talks", async () => (await world.screen(id)).includes("word3"));
      const canceled = await world.ao.json(cancelSchema, ["cancel", id]);
      expect(canceled).toMatchObject({ outcome: "canceled" });
      expect((await world.row(id)).status).toBe("idle");
      expect(await world.ao.json(sendSchema, ["send", id, "next-words"])).toMatchObject({
        state: "delivered",
      });
      await world.until(id, "idle");
      expect(outcomes(await world.turns(id))).toEqual(["canceled", "completed"]);
    });

    test("is killed with the tools that it runs, and comes back with its own conversation", async () => {
      const world = await agentWorld(suite);
      const marker = join(world.ao.root, "tool-pid");
      world.model.script("first-words", text("first-answer"));
      world.model.script("run-long", run(`echo $$ > ${marker}; sleep 300 & sleep 300`));
      const id = await world.spawn("first-words", "--", ...suite.freely);
      const other = await world.spawn("other-words");
      await world.until(id, "idle");
      await world.until(other, "idle");
      await world.ao.json(sendSchema, ["send", id, "run-long"]);
      const isWritten = () => existsSync(marker) && readFileSync(marker, "utf8").endsWith("\n");
      await world.eventually("its tool runs", isWritten);
      const pid = Number(readFileSync(marker, "utf8"));
      expect(existsSync(`/proc/${pid}`)).toBe(true);
      expect((await world.ao.run(["kill", id])).exitCode).toBe(0);
      await world.eventually("its tool is gone", () => !existsSync(`/proc/${pid}`));

      expect((await world.ao.run(["restore", id])).exitCode).toBe(0);
      await world.ao.json(sendSchema, ["send", id, "after-words"]);
      await world.until(id, "idle");
      const [request] = world.model.about("after-words");
      expect(request?.prompts.some((prompt) => prompt.includes("first-words"))).toBe(true);
      expect(request?.prompts.some((prompt) => prompt.includes("other-words"))).toBe(false);
    });

    test("works side by side with another session of its kind in one repository, and neither hears of the other", async () => {
      const world = await startedBefore(suite);
      const { ao, model } = world;
      const asked = (words: string) => model.about(words).at(-1)?.prompts.join("\n") ?? "";
      /** What a slow start makes wait is delivered by a tick. */
      const say = async (id: string, words: string) => {
        const sent = await ao.json(sendSchema, ["send", id, words, "--timeout", "60"]);
        if (sent.state !== "queued") return sent;
        return world.eventually(`${words} is delivered`, async () => {
          const { messages } = await ao.json(reconcileSchema, ["reconcile"]);
          return messages.find(
            (message) => message.messageId === sent.messageId && message.state !== "queued",
          );
        });
      };
      for (const side of ["left", "right"]) {
        model.script(`${side}-first`, run(`touch made-by-${side}`), text(`${side}-answer`));
      }
      const [left, right] = await Promise.all(
        ["left-first", "right-first"].map((prompt) => world.spawn(prompt, "--", ...suite.freely)),
      );
      if (left === undefined || right === undefined) throw new Error("there are two");
      await Promise.all([world.until(left, "idle"), world.until(right, "idle")]);
      expect([await world.gitStatus(left), await world.gitStatus(right)]).toEqual([
        "?? made-by-left",
        "?? made-by-right",
      ]);

      const receipts = await Promise.all([say(left, "left-second"), say(right, "right-second")]);
      expect(receipts).toMatchObject([{ state: "delivered" }, { state: "delivered" }]);
      await Promise.all([world.until(left, "idle"), world.until(right, "idle")]);
      const conversations = [(await world.row(left)).agentSessionId, (await world.row(right)).agentSessionId];
      expect(new Set(conversations).size).toBe(2);
      expect(conversations).not.toContain(null);

      expect((await ao.run(["kill", left, "--salvage"])).exitCode).toBe(0);
      expect(await say(right, "right-third")).toMatchObject({ state: "delivered" });
      await world.until(right, "idle");
      expect((await ao.run(["restore", left])).exitCode).toBe(0);
      expect(await say(left, "left-third")).toMatchObject({ state: "delivered" });
      await world.until(left, "idle");
      expect([(await world.row(left)).agentSessionId, (await world.row(right)).agentSessionId]).toEqual(
        conversations,
      );
      for (const [side, other] of [
        ["left", "right"],
        ["right", "left"],
      ]) {
        expect(asked(`${side}-third`)).toContain(`${side}-first`);
        expect(asked(`${side}-third`)).toContain(`${side}-second`);
        expect(asked(`${side}-third`)).not.toContain(`${other}-`);
      }
      const completed = ["completed", "completed", "completed"];
      expect(outcomes(await world.turns(left))).toEqual(completed);
      expect(outcomes(await world.turns(right))).toEqual(completed);
      expect(await world.gitStatus(left)).toBe("?? made-by-left");
    });
  });
}
