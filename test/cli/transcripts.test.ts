import { readdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type Ao, aoSandbox, FAULTY_AO } from "../support/ao.ts";
import { listSchema, reconcileSchema, sendSchema, showSchema, turnsSchema } from "../support/json-schemas.ts";
import { closedFolder, type SmallDisk, smallDisk } from "../support/small-disk.ts";

const PATIENCE = { timeout: 20_000, interval: 100 };
const PROMPTS = ["say one", "write notes.md hello\nsay two", "wait 1\nsay three"];

const transcriptSchema = z.looseObject({
  messages: z.int(),
  data: z.array(
    z.looseObject({
      number: z.int(),
      role: z.string(),
      text: z.string(),
      source: z.string(),
      turnId: z.string().nullable(),
      at: z.string().nullable(),
    }),
  ),
});
const verifySchema = z.looseObject({
  data: z.array(z.looseObject({ health: z.string(), copies: z.array(z.string()) })),
});

/** What each prompt leaves in a transcript, its turn by number. */
const WHOLE = [
  ["user", "say one", 0],
  ["assistant", "one", 0],
  ["system", "completed", 0],
  ["user", "write notes.md hello\nsay two", 1],
  ["tool", "write notes.md", 1],
  ["assistant", "wrote notes.md", 1],
  ["assistant", "two", 1],
  ["system", "completed", 1],
  ["user", "wait 1\nsay three", 2],
  ["assistant", "three", 2],
  ["system", "completed", 2],
];

/** The transcript as role, text and number of the turn; every message must name its source. */
async function told(ao: Ao, id: string) {
  const { data } = await ao.json(transcriptSchema, ["transcript", "show", id, "--from", "1"]);
  const turns = (await ao.json(turnsSchema, ["turns", id])).data.toReversed().map((turn) => turn.id);
  expect(data.map(({ number }) => number)).toEqual(data.map((_, index) => index + 1));
  return data.map(({ role, text, turnId }) => [role, text, turns.indexOf(turnId ?? "")]);
}

async function sources(ao: Ao, id: string): Promise<ReadonlySet<string>> {
  const { data } = await ao.json(transcriptSchema, ["transcript", "show", id, "--from", "1"]);
  return new Set(data.map(({ source }) => source));
}

async function expectHealthy(ao: Ao, id: string): Promise<void> {
  const { data } = await ao.json(verifySchema, ["transcript", "verify", id]);
  expect(data).toMatchObject([{ health: "healthy", copies: [] }]);
}

/** The agent has done all three prompts; what it told last lies in the inbox. */
async function aTalk(program?: string, prepare: (ao: Ao) => void = () => undefined) {
  const ao = aoSandbox(program);
  const repository = ao.repository();
  prepare(ao);
  const id = await ao.spawn(repository, ["--prompt", PROMPTS[0] ?? ""]);
  await ao.until(id, "idle");
  for (const text of PROMPTS.slice(1)) {
    await ao.json(sendSchema, ["send", id], { input: text });
    await ao.until(id, "idle");
  }
  return { ao, id };
}

describe("a session of the embedded agent", () => {
  test("has each prompt, tool use, answer and end in its transcript, once, in order, with its turn", async () => {
    const { ao, id } = await aTalk();
    await ao.json(reconcileSchema, ["reconcile"]);
    expect(await told(ao, id)).toEqual(WHOLE);
    expect(await sources(ao, id)).toEqual(new Set(["hook"]));
    await expectHealthy(ao, id);
    const { transcript } = await ao.json(showSchema, ["show", id]);
    expect(transcript).toMatchObject({ messages: WHOLE.length, health: "healthy", unsaved: null });
    await ao.json(reconcileSchema, ["reconcile"]);
    expect((await ao.json(showSchema, ["show", id])).transcript).toEqual(transcript);
  });

  test("goes on with its transcript after kill and restore, and a fresh one points to it", async () => {
    const { ao, id } = await aTalk();
    expect((await ao.run(["kill", id, "--keep-worktree"])).exitCode).toBe(0);
    expect(await told(ao, id)).toEqual(WHOLE);
    expect((await ao.run(["restore", id])).stderr).not.toContain("ao transcript");
    await ao.json(sendSchema, ["send", id], { input: "say four" });
    await ao.until(id, "idle");
    await ao.json(reconcileSchema, ["reconcile"]);
    const more = ["say four", "four", "completed"];
    expect((await told(ao, id)).map(([, text]) => text)).toEqual([...WHOLE.map(([, text]) => text), ...more]);
    await ao.run(["kill", id, "--keep-worktree"]);
    expect((await ao.run(["restore", id, "--fresh"])).stderr).toContain(`ao transcript show ${id}`);
    await ao.until(id, "idle");
    await ao.json(reconcileSchema, ["reconcile"]);
    const all = (await told(ao, id)).map(([, text]) => text);
    expect(all.slice(-3)).toEqual(["say one", "one", "completed"]);
    expect(all).toHaveLength(WHOLE.length + 6);
    await expectHealthy(ao, id);
  });

  test("that was killed in the middle of a turn keeps all that was told, its own file cut or not", async () => {
    for (const isCut of [false, true]) {
      const { ao, id } = await aTalk(FAULTY_AO);
      await ao.json(sendSchema, ["send", id], { input: "say last\nwait 60" });
      const output = async () => (await ao.run(["output", id])).stdout;
      await expect.poll(output, PATIENCE).toContain("\nlast\n");
      const killed = await ao.run(["reconcile"], { env: { AO_FAULT_AT: "reconcile.trash:before" } });
      expect(killed.exitCode).toBeNull();
      const pid = ao.tmux("list-panes", "-a", "-F", "#{pane_pid}");
      process.kill(Number(pid), "SIGKILL");
      const folder = join(ao.dataDir, "embedded");
      if (isCut) for (const file of readdirSync(folder)) truncateSync(join(folder, file), 100);
      const turnId = (await ao.json(turnsSchema, ["turns", id])).data[0]?.id;
      expect((await ao.json(showSchema, ["show", id])).transcript?.turnInFlight).toMatchObject({ turnId });
      const { data } = await ao.json(verifySchema, ["transcript", "verify", id]);
      expect(data).toMatchObject([{ turnInFlight: { turnId } }]);
      await ao.json(reconcileSchema, ["reconcile"]);
      await ao.run(["kill", id, "--keep-worktree"]);
      expect((await ao.json(showSchema, ["show", id])).transcript?.turnInFlight).toBeNull();
      const all = await told(ao, id);
      expect(all.slice(0, WHOLE.length)).toEqual(WHOLE);
      expect(all.slice(WHOLE.length).map(([, text]) => text)).toEqual(["say last\nwait 60", "last"]);
      await expectHealthy(ao, id);
    }
  });
});

describe("a reconcile that is killed around the save of a transcript", () => {
  test.each(["observe.transcript:before", "observe.transcript:after", "reconcile.trash:before"])(
    "at %s loses nothing and doubles nothing",
    async (boundary) => {
      const { ao, id } = await aTalk(FAULTY_AO);
      const killed = await ao.run(["reconcile"], { env: { AO_FAULT_AT: boundary } });
      expect(killed.exitCode).toBeNull();
      await ao.json(reconcileSchema, ["reconcile"]);
      expect(await told(ao, id)).toEqual(WHOLE);
      await expectHealthy(ao, id);
    },
  );
});

describe("a disk that is full", () => {
  test.each([
    ["of the transcripts", "transcripts"],
    ["of all of the data directory", "."],
  ])("%s is a warning on its session, and the next save makes it good", async (_what, place) => {
    let disk: SmallDisk | undefined;
    const { ao, id } = await aTalk(undefined, ({ dataDir }) => {
      disk = smallDisk(join(dataDir, place), 8, () => closedFolder(join(dataDir, "transcripts")));
    });
    expect(readdirSync(join(ao.dataDir, "inbox", "new"))).not.toEqual([]);
    disk?.fill();
    expect((await ao.run(["reconcile"], { ...disk })).exitCode).toBeGreaterThan(0);
    expect((await ao.run(["list"])).stderr).toContain(`what was said in ${id} could not be saved`);
    expect((await ao.json(listSchema, ["list"])).meta.unsaved).toMatchObject([{ id }]);
    expect((await ao.json(showSchema, ["show", id])).transcript?.unsaved).toEqual(expect.any(String));
    disk?.free();
    await ao.json(reconcileSchema, ["reconcile"]);
    expect((await ao.run(["list"])).stderr).toBe("");
    expect((await ao.json(listSchema, ["list"])).meta.unsaved).toEqual([]);
    expect(await told(ao, id)).toEqual(WHOLE);
    await expectHealthy(ao, id);
  });
});
