import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Ao, aoSandbox } from "../support/ao.ts";
import { listSchema, showSchema } from "../support/json-schemas.ts";
import { tempDir } from "../support/temp-dir.ts";

/** How soon after an event `ao list` has to say so. */
const SOON_MS = 1000;
const PATIENCE = { timeout: 20_000, interval: 10 };

/** The times of all events of one name that the agent has left, oldest first; no command takes them away. */
function timesOf({ dataDir }: Ao, event: string): readonly number[] {
  const folder = join(dataDir, "inbox", "new");
  return readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), "utf8").split("\n\n")[0]?.split("\n") ?? [])
    .filter((header) => header.includes(`event ${event}`))
    .flatMap((header) => header.filter((line) => line.startsWith("time ")))
    .map((line) => Number(line.slice("time ".length)))
    .sort((one, other) => one - other);
}

/** The moment of the `count`th event of a name, as soon as it is there. */
async function momentOf(ao: Ao, event: string, count: number): Promise<number> {
  await expect.poll(() => timesOf(ao, event).length, PATIENCE).toBe(count);
  return timesOf(ao, event)[count - 1] ?? Number.NaN;
}

/** What `ao list` says of the only session, and when it looked. */
async function look(ao: Ao) {
  const { data, meta } = await ao.json(listSchema, ["list", "-a"]);
  return { session: data[0], atMs: Date.parse(meta.observedAt ?? "") };
}

/** `ao list` says this status, and said it first within a second of the event. */
async function isSaid(ao: Ao, status: string, eventMs: number): Promise<void> {
  let { session, atMs } = await look(ao);
  while (session?.status !== status && atMs <= eventMs + SOON_MS) ({ session, atMs } = await look(ao));
  expect({ status: session?.status, isSoon: atMs - eventMs <= SOON_MS }).toEqual({ status, isSoon: true });
}

const facts = async (ao: Ao) => (await ao.json(showSchema, ["show", "shop-1"])).facts;

/** A start that waits for a file, so that the agent runs and has said nothing yet. */
function gate() {
  const folder = tempDir("ao-gate");
  const [script, open] = [join(folder, "gate.cjs"), join(folder, "open")];
  writeFileSync(
    script,
    `const { existsSync } = require("node:fs");
const cell = new Int32Array(new SharedArrayBuffer(4));
for (let left = 6000; left > 0 && !existsSync(${JSON.stringify(open)}); left--) Atomics.wait(cell, 0, 0, 10);
`,
  );
  return { env: { NODE_OPTIONS: `--require ${script}` }, open: () => writeFileSync(open, "") };
}

test("each step of an agent from its start to its exit is listed within a second, and shown with its source", async () => {
  const ao = aoSandbox();
  const cwd = ao.repository();
  const { env, open } = gate();
  const config = join(ao.root, "ao.yaml");
  writeFileSync(config, JSON.stringify({ env }));
  const prompt = "wait 4\nask which colour?\nwait 4\nsay done";
  await ao.spawn(cwd, ["--prompt", prompt], { env: { AO_CONFIG_PATH: config } });

  const type = (text: string) => {
    ao.tmux("send-keys", "-t", ao.tmux("list-panes", "-a", "-F", "#{pane_id}"), text, "Enter");
  };

  expect((await look(ao)).session?.status).toBe("spawning");
  expect(await facts(ao)).toMatchObject({
    session: { state: "not_started", source: "request" },
    runtime: { state: "alive", source: "runtime" },
    activity: { state: null, source: "none", confidence: "none" },
    silentSince: null,
  });

  open();
  await isSaid(ao, "working", await momentOf(ao, "submit", 1));
  const byHook = { source: "hook", confidence: "high" };
  expect(await facts(ao)).toMatchObject({
    session: { state: "working", source: "hook" },
    activity: { state: "active", ...byHook },
  });

  await isSaid(ao, "needs_input", await momentOf(ao, "waiting", 1));
  expect(await facts(ao)).toMatchObject({
    session: { state: "needs_input", source: "hook" },
    activity: { state: "waiting_input", ...byHook },
  });

  type("blue");
  await isSaid(ao, "working", await momentOf(ao, "resumed", 1));
  expect(await facts(ao)).toMatchObject({ activity: { state: "active", ...byHook } });

  await isSaid(ao, "idle", await momentOf(ao, "turn_end", 1));
  expect(await facts(ao)).toMatchObject({
    session: { state: "idle", source: "hook" },
    activity: { state: "ready", ...byHook },
    runtime: { state: "alive", source: "runtime" },
  });

  type("exit 3");
  await isSaid(ao, "killed", await momentOf(ao, "session_end", 1));
  expect(await facts(ao)).toMatchObject({
    session: { state: "terminated", source: "runtime" },
    activity: { state: "exited", ...byHook },
    runtime: { state: "exited", source: "runtime" },
  });
  expect((await look(ao)).session?.runtime?.exit).toMatchObject({ status: 3, signal: null });

  const privateFiles = () => readdirSync(join(ao.dataDir, "launch"));
  expect(privateFiles()).toEqual(["shop-1"]);
  expect(await ao.run(["reconcile"])).toMatchObject({ exitCode: 0 });
  expect(privateFiles()).toEqual([]);
});
