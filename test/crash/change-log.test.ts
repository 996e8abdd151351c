import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { sqliteStore } from "../../src/adapters/sqlite/store.ts";
import { AO, type Ao, aoSandbox } from "../support/ao.ts";
import { eventSchema } from "../support/json-schemas.ts";
import { SHELL } from "./crash-scenarios.ts";

const WRITERS = 4;
const ofSpawn = z.looseObject({ kind: z.literal("spawn") });

/** `ao events --follow` from some number on, until the test ends. */
function follower({ env, root }: Ao, after: number) {
  const argv = [AO, "events", "--follow", "--after", String(after)];
  const child = spawn(process.execPath, argv, { env, cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return { after, sequences: () => sequencesIn(text.slice(0, text.lastIndexOf("\n") + 1)) };
}

const eventsIn = (text: string) =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => eventSchema.parse(JSON.parse(line)));
const sequencesIn = (text: string) => eventsIn(text).map(({ sequence }) => sequence);

/** All numbers after one, up to and with another. */
const between = (after: number, last: number) =>
  Array.from({ length: last - after }, (_, at) => after + at + 1);

test("readers of the change log that begin anywhere, while many write, miss nothing and get nothing twice", async () => {
  const ao = aoSandbox();
  const cwd = ao.repository();
  await ao.spawn(cwd, SHELL);
  const store = sqliteStore({ path: join(ao.dataDir, "ao.db") });
  onTestFinished(() => store.close());

  const write = async () => {
    for (let times = 0; times < 2; times++) await ao.run(["kill", await ao.spawn(cwd, SHELL)]);
  };
  let areWriting = true;
  const writing = Promise.all(Array.from({ length: WRITERS }, write)).then(() => {
    areWriting = false;
  });

  const followers = [follower(ao, 0)];
  const read: number[] = [];
  while (areWriting) {
    const last = store.changes.last();
    if (followers.length < 6 && last > (followers.at(-1)?.after ?? 0) + 3) {
      followers.push(follower(ao, last - (followers.length % 3)));
    }
    const { stdout } = await ao.run(["events", "--after", String(read.at(-1) ?? 0)]);
    read.push(...sequencesIn(stdout));
  }
  await writing;
  const { stdout } = await ao.run(["events", "--after", String(read.at(-1) ?? 0)]);
  read.push(...sequencesIn(stdout));

  const last = store.changes.last();
  expect(followers.length).toBeGreaterThan(3);
  expect(read).toEqual(between(0, last));
  for (const { after, sequences } of followers) {
    await expect.poll(sequences, { timeout: 10_000 }).toEqual(between(after, last));
  }

  const events = eventsIn((await ao.run(["events"])).stdout);
  const ends = events.filter(({ type }) => type === "operation.completed");
  expect(ends).toHaveLength(1 + 4 * WRITERS);
  // Nothing of another writer comes between what is one transaction. A kill has told of its session a step earlier.
  const spawned = ends.filter(({ data }) => ofSpawn.safeParse(data).success);
  expect(spawned).toHaveLength(1 + 2 * WRITERS);
  const before = spawned
    .map(({ sequence }) => events[sequence - 2])
    .map((event) => [event?.sessionId, event?.type]);
  expect(before).toEqual(spawned.map(({ sessionId }) => [sessionId, "session.changed"]));
});
