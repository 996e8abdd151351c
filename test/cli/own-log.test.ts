import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import * as z from "zod";
import { type Ao, aoSandbox } from "../support/ao.ts";
import { listSchema, showSchema, turnsSchema } from "../support/json-schemas.ts";

const saidSchema = z.looseObject({ data: z.array(z.looseObject({ text: z.string() })) });
const BY_LOG = { source: "native", confidence: "high" };

/** A sandbox in whose inbox no hook can leave anything. */
function withoutHooks(): Ao {
  const ao = aoSandbox();
  mkdirSync(join(ao.dataDir, "inbox"), { recursive: true, mode: 0o700 });
  writeFileSync(join(ao.dataDir, "inbox", "tmp"), "", { mode: 0o600 });
  return ao;
}

const shown = (ao: Ao, id: string) => ao.json(showSchema, ["show", id]);

test("an agent whose hooks arrive nowhere is read from its own log, and not from what it said before a restore", async () => {
  const ao = withoutHooks();
  const id = await ao.spawn(ao.repository(), ["--prompt", "ask which colour?"]);
  await ao.until(id, "needs_input");
  expect(await shown(ao, id)).toMatchObject({
    facts: {
      session: { state: "needs_input", source: "native" },
      activity: { state: "waiting_input", ...BY_LOG },
    },
  });
  ao.tmux("send-keys", "-t", ao.tmux("list-panes", "-a", "-F", "#{pane_id}"), "blue", "Enter");
  await ao.until(id, "idle");
  expect((await shown(ao, id)).facts.activity).toMatchObject({ state: "ready", ...BY_LOG });

  expect(await ao.run(["kill", id])).toMatchObject({ exitCode: 0 });
  expect(await ao.run(["restore", id])).toMatchObject({ exitCode: 0 });
  const { data } = await ao.json(listSchema, ["list", "-a"]);
  expect(data[0]?.status).toBe("spawning");
  expect((await shown(ao, id)).facts.activity).toMatchObject({ state: null, source: "none" });
}, 60_000);

/** Lets no hook leave anything until the returned function is called. */
function loseHooks({ dataDir }: Ao): () => void {
  const drafts = join(dataDir, "inbox", "tmp");
  renameSync(drafts, `${drafts}.aside`);
  writeFileSync(drafts, "", { mode: 0o600 });
  return () => {
    rmSync(drafts);
    renameSync(`${drafts}.aside`, drafts);
  };
}

/** What the embedded agent wrote of its conversations. */
function agentLogs({ dataDir }: Ao): string {
  const folder = join(dataDir, "embedded");
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("");
}

test("a turn whose end no hook could tell is settled by the agent's own log, and what waits is delivered", async () => {
  const ao = aoSandbox();
  const id = await ao.spawn(ao.repository(), ["--prompt", "wait 2\nsay it is done"]);
  await ao.until(id, "working");
  expect(await ao.run(["send", id, "say and more", "--no-wait"])).toMatchObject({ exitCode: 0 });
  const giveBack = loseHooks(ao);
  await vi.waitFor(() => expect(agentLogs(ao)).toContain("turn_end"), { timeout: 20_000, interval: 100 });
  giveBack();
  await ao.until(id, "idle");
  expect((await shown(ao, id)).facts.activity).toMatchObject({ state: "ready", ...BY_LOG });
  expect(await ao.run(["reconcile"])).toMatchObject({ exitCode: 0 });
  await ao.until(id, "idle");
  const said = async () =>
    (await ao.json(saidSchema, ["transcript", "show", id])).data.map(({ text }) => text);
  await vi.waitFor(
    async () => {
      await ao.run(["reconcile"]);
      expect(await said()).toEqual(expect.arrayContaining(["it is done", "say and more", "and more"]));
    },
    { timeout: 20_000, interval: 300 },
  );
  const { data } = await ao.json(turnsSchema, ["turns", id]);
  expect(data.map(({ outcome }) => outcome)).toEqual(["completed", "completed"]);
}, 60_000);
