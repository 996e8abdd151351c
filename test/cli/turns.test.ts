import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stoppedAt } from "../crash/stopped-run.ts";
import { type Ao, aoSandbox, FAULTY_AO } from "../support/ao.ts";
import { cancelSchema, sendSchema, showSchema, turnsSchema } from "../support/json-schemas.ts";

const PATIENCE = { timeout: 20_000, interval: 100 };

/** The prompts of the only conversation of the sandbox, in the order in which its agent took them up. */
function prompts(ao: Ao): readonly string[] {
  const [all = []] = conversations(ao);
  return all;
}

/** The same of all conversations, in no order. */
function conversations({ dataDir }: Ao): readonly (readonly string[])[] {
  const folder = join(dataDir, "embedded");
  return readdirSync(folder).map((file) => promptsIn(readFileSync(join(folder, file), "utf8")));
}

function promptsIn(content: string): readonly string[] {
  return content
    .split("\n")
    .filter(Boolean)
    .map((line): { readonly kind: string; readonly text: string } => JSON.parse(line))
    .filter(({ kind }) => kind === "prompt")
    .map(({ text }) => text);
}

/** The turns of a session, oldest first, as their outcome or phase. */
async function story(ao: Ao, id: string): Promise<readonly string[]> {
  const { data } = await ao.json(turnsSchema, ["turns", id]);
  return data.map(({ phase, outcome }) => outcome ?? phase).toReversed();
}

const send = (ao: Ao, id: string, text: string, ...argv: readonly string[]) =>
  ao.json(sendSchema, ["send", id, ...argv], { input: text });
const cancel = (ao: Ao, id: string, ...argv: readonly string[]) =>
  ao.json(cancelSchema, ["cancel", id, ...argv]);

async function aRestingSession(program?: string): Promise<{ readonly ao: Ao; readonly id: string }> {
  const ao = aoSandbox(program);
  const id = await ao.spawn(ao.repository(), ["--prompt", "say ready"]);
  await ao.until(id, "idle");
  return { ao, id };
}

describe("messages to one agent", () => {
  test("from processes at once arrive once each, whole, in the order of the queue, with their receipts", async () => {
    const { ao, id } = await aRestingSession();
    const texts = ["say one\nsay 1;", "-p Enter \u001b[201~ $(touch x)", `say ${"ä;".repeat(50_000)}`];
    const sent = await Promise.all(texts.map((text) => send(ao, id, text)));
    expect(sent.map(({ state }) => state)).toEqual(texts.map(() => "delivered"));
    await expect.poll(() => story(ao, id), PATIENCE).toEqual(Array(4).fill("completed"));
    expect([...prompts(ao)].sort()).toEqual(["say ready", ...texts].sort());

    const { data } = await ao.json(turnsSchema, ["turns", id]);
    const byTurn = data.toReversed().map(({ messageId }) => messageId);
    const taken = prompts(ao).slice(1);
    const bySender = taken.map((text) => sent[texts.indexOf(text)]?.messageId);
    expect(byTurn.slice(1)).toEqual(bySender);
    expect(sent.map(({ turnId }) => turnId).sort()).toEqual(
      data
        .slice(0, 3)
        .map((turn) => turn.id)
        .sort(),
    );
    expect((await ao.json(showSchema, ["show", id])).turns).toHaveLength(4);
  });

  test("twenty at once to four agents arrive once each, whole, in the order of each queue", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const ids: string[] = [];
    for (let number = 1; number <= 4; number++) ids.push(await ao.spawn(cwd, ["--prompt", "say ready"]));
    const texts = ids.flatMap((id) =>
      [1, 2, 3, 4, 5].map((number) => [id, `say ${id}\nsay ${number}`] as const),
    );
    const sent = await Promise.all(texts.map(([id, text]) => send(ao, id, text, "--timeout", "120s")));
    expect(sent.map(({ state }) => state)).toEqual(texts.map(() => "delivered"));
    const arrived = conversations(ao).map((all) => all.slice(1));
    expect(arrived.flat().sort()).toEqual(texts.map(([, text]) => text).sort());
    for (const id of ids) {
      const { data } = await ao.json(turnsSchema, ["turns", id]);
      const taken = arrived.find(([first]) => first?.startsWith(`say ${id}\n`)) ?? [];
      const senders = taken.map((text) => sent[texts.findIndex(([, one]) => one === text)]?.messageId);
      expect(
        data
          .toReversed()
          .slice(1)
          .map(({ messageId }) => messageId),
      ).toEqual(senders);
    }
  });

  test("wait for the end of its turn, and stay queued when that takes too long", async () => {
    const { ao, id } = await aRestingSession();
    await send(ao, id, "wait 30");
    const late = await send(ao, id, "say late", "--timeout", "300ms");
    expect(late).toMatchObject({ state: "queued", turnId: null });
    await send(ao, id, "say last", "--no-wait");
    await cancel(ao, id);
    expect(await send(ao, id, "say now")).toMatchObject({ state: "delivered" });
    await expect
      .poll(() => story(ao, id), PATIENCE)
      .toEqual(["completed", "canceled", ...Array(3).fill("completed")]);
    expect(prompts(ao)).toEqual(["say ready", "wait 30", "say late", "say last", "say now"]);
  });

  test("answer its question within the turn that asked", async () => {
    const { ao, id } = await aRestingSession();
    const asked = await send(ao, id, "ask which colour?");
    await ao.until(id, "needs_input");
    expect(await send(ao, id, "blue")).toMatchObject({ state: "delivered", turnId: asked.turnId });
    await expect.poll(() => story(ao, id), PATIENCE).toEqual(["completed", "completed"]);
  });

  test("of a sender that died before it typed are never sent twice, and hold nobody up for ever", async () => {
    const { ao, id } = await aRestingSession(FAULTY_AO);
    const env = { AO_FAULT_AT: "send.mark:after" };
    expect((await ao.run(["send", id, "say lost"], { env })).exitCode).toBeNull();
    expect(await send(ao, id, "say found")).toMatchObject({ state: "delivered" });
    await expect.poll(() => story(ao, id), PATIENCE).toEqual(["completed", "failed", "completed"]);
    expect(prompts(ao)).toEqual(["say ready", "say found"]);
  });
});

describe("a turn", () => {
  test("that runs is canceled, confirmed by its agent, and its session goes on", async () => {
    const { ao, id } = await aRestingSession();
    const { turnId } = await send(ao, id, "wait 60");
    expect(await cancel(ao, id)).toMatchObject({
      ...{ turnId, state: "settled", outcome: "canceled", providerConfirmed: true, intentAccepted: true },
    });
    expect(await story(ao, id)).toEqual(["completed", "canceled"]);
    expect(await send(ao, id, "say on")).toMatchObject({ state: "delivered" });
  });

  test("that is over is not canceled, nor is there one while the agent rests", async () => {
    const { ao, id } = await aRestingSession();
    expect(await cancel(ao, id)).toMatchObject({ state: "not_found", settled: false, operationId: null });
    const { data } = await ao.json(turnsSchema, ["turns", id]);
    expect(await cancel(ao, id, "--turn", data[0]?.id ?? "")).toMatchObject({
      ...{ state: "already_settled", outcome: "completed", operationId: null },
    });
  });

  test("that ends while it is canceled keeps its outcome, and the key meets no other turn", async () => {
    const { ao, id } = await aRestingSession(FAULTY_AO);
    const asked = await send(ao, id, "ask which colour?");
    await ao.until(id, "needs_input");
    const argv = ["cancel", id, "--json"];
    const boundary = "cancel.tell:before";
    const stopped = await stoppedAt({ ao, repository: ao.root }, argv, { boundary });
    const pane = ao.tmux("list-panes", "-a", "-F", "#{pane_id}");
    const type = (text: string) => ao.tmux("send-keys", "-t", pane, text, "Enter");
    type("blue");
    await ao.until(id, "idle");
    type("ask and now?");
    await ao.until(id, "needs_input");
    const { exitCode, stdout } = await stopped.wake();
    expect({ exitCode, ...cancelSchema.parse(JSON.parse(stdout)) }).toMatchObject({
      ...{
        exitCode: 0,
        turnId: asked.turnId,
        state: "settled",
        outcome: "completed",
        providerConfirmed: false,
      },
    });
    expect(await story(ao, id)).toEqual(["completed", "completed", "waiting"]);
    type("green");
    await ao.until(id, "idle");
    expect(await story(ao, id)).toEqual(["completed", "completed", "completed"]);
  });

  test("whose agent was killed ends as unknown when it is canceled", async () => {
    const { ao, id } = await aRestingSession();
    await send(ao, id, "wait 60");
    process.kill(Number(ao.tmux("list-panes", "-a", "-F", "#{pane_pid}")), "SIGKILL");
    await expect.poll(() => ao.tmux("list-panes", "-a", "-F", "#{pane_dead}")).toBe("1");
    expect(await cancel(ao, id)).toMatchObject({ state: "settled", outcome: "failed" });
    const { data } = await ao.json(turnsSchema, ["turns", id]);
    expect(data[0]).toMatchObject({ outcome: "failed", errorCode: "execution_status_unknown" });
  });

  test("is interrupted by the end of its session", async () => {
    const { ao, id } = await aRestingSession();
    await send(ao, id, "wait 60");
    await ao.run(["kill", id]);
    expect(await story(ao, id)).toEqual(["completed", "interrupted"]);
    expect(await ao.error(["send", id, "hello"])).toMatchObject({ code: "not_running", exitCode: 4 });
  });
});
