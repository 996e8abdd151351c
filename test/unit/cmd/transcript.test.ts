import { describe, expect, test } from "vitest";
import { observeSessions } from "../../../src/lifecycle/observe/observe-sessions.ts";
import { T0_MS } from "../../support/builders.ts";
import { memoryCli } from "../../support/memory-cli.ts";
import { aMessage, liveSession, turns } from "../../support/transcripts.ts";
import { aWorld, type World } from "../../support/world.ts";

/** A world with one session of two turns. */
async function recorded(messages = turns(1, 2)) {
  const world = aWorld();
  const { id } = await world.spawn();
  const ref = { folder: `${world.deps.dataDir}/transcripts/app`, name: id };
  const session = liveSession(world.deps.transcripts, undefined, ref);
  session.add(...messages);
  await session.save();
  return { world, id, session, ref };
}

async function json(world: World, ...argv: readonly string[]) {
  const { exitCode, stdout, stderr } = await memoryCli(world, ["transcript", ...argv, "--json"]);
  expect(stderr).toBe("");
  return { exitCode, value: JSON.parse(stdout) };
}

describe("ao transcript show", () => {
  test("prints the last page, and where to go on from", async () => {
    const { world } = await recorded();
    const { stdout, stderr } = await memoryCli(world, ["transcript", "show", "app-1", "-n", "3"]);
    const at = new Date(T0_MS).toISOString();
    expect(stdout.split("\n").slice(0, 4)).toEqual([
      `#2 assistant  ${at} · turn-1 · from agent_log`,
      "    answer 1",
      "",
      `#3 user  ${at} · turn-2 · from hook`,
    ]);
    expect(stderr).toBe("");
    const first = await memoryCli(world, ["transcript", "show", "app-1", "-n", "3", "--from", "1"]);
    expect(first.stderr).toBe("more: ao transcript show app-1 --from 4\n");
  });

  test("gives a script every member, the number and the time", async () => {
    const { world, session } = await recorded([{ ...aMessage({ text: "hi" }), tool: "edit" }]);
    expect(await json(world, "show", "app-1")).toEqual({
      exitCode: 0,
      value: {
        ...{ id: "app-1", messages: 1, digest: session.base()?.digest },
        ...{ savedAt: new Date(T0_MS).toISOString(), gaps: [], next: null },
        ...{ health: "healthy", missing: 0, salvage: null, turnInFlight: null },
        data: [
          {
            ...{ number: 1, role: "user", text: "hi", turnId: null, source: "hook", tool: "edit" },
            at: new Date(T0_MS).toISOString(),
          },
        ],
      },
    });
  });

  test("acts on no terminal", async () => {
    const { world } = await recorded([aMessage({ text: "one\n\u001b[31mtwo\r\nthree" })]);
    const { stdout } = await memoryCli(world, ["transcript", "show", "app-1"]);
    expect(stdout.split("\n").slice(1, 4)).toEqual(["    one", "    \\x1b[31mtwo", "    three"]);
  });

  test("of a session without one says so, and one that was removed is an error", async () => {
    const world = aWorld();
    await world.spawn();
    const { exitCode, stdout, stderr } = await memoryCli(world, ["transcript", "show", "app-1"]);
    expect([exitCode, stdout, stderr]).toEqual([0, "", "nothing is recorded of app-1 yet\n"]);
    expect((await memoryCli(world, ["transcript", "export", "app-1"])).exitCode).toBe(3);
    expect((await memoryCli(world, ["transcript", "show", "app-9"])).exitCode).toBe(3);
    expect((await memoryCli(world, ["transcript", "show", "app-1", "--from", "0"])).exitCode).toBe(2);
  });
});

describe("ao transcript verify", () => {
  test("says of all, or of one, that they are sound", async () => {
    const { world } = await recorded();
    const { exitCode, stdout } = await memoryCli(world, ["transcript", "verify"]);
    expect([exitCode, stdout.split("\n")[1]]).toEqual([0, expect.stringMatching(/^app-1 +healthy +4 +\d+$/)]);
    const one = await json(world, "verify", "app-1");
    expect(one).toMatchObject({
      exitCode: 0,
      value: { data: [{ name: "app-1", isSound: true, messages: 4 }] },
    });
  });

  test("exits with 4 on damage and says what is missing; repair keeps it and says so too", async () => {
    const { world, session, ref } = await recorded();
    session.add(...turns(3));
    await session.save();
    const first = world.transcriptFiles.peek(`${ref.folder}/app-1.events.jsonl`);
    const log = Buffer.from(first ?? []).toString();
    world.transcriptFiles.poke(
      `${ref.folder}/app-1.events.jsonl`,
      Buffer.from(log.replace("answer 1", "Answer 1")),
    );
    await world.transcriptFiles.unlink(`${ref.folder}/app-1.jsonl`);
    const damaged = await json(world, "verify");
    expect(damaged).toMatchObject({
      exitCode: 4,
      value: { data: [{ health: "damaged", isSound: false, log: { gaps: [{ first: 1, last: 4 }] } }] },
    });
    const shown = await memoryCli(world, ["transcript", "show", "app-1"]);
    expect(shown.stderr).toContain("warning: the transcript of app-1 is damaged and lacks 4 messages");
    expect((await json(world, "show", "app-1")).value).toMatchObject({
      ...{ health: "damaged", missing: 4, gaps: [{ first: 1, last: 4 }], messages: 6, salvage: null },
    });
    const exported = await memoryCli(world, ["transcript", "export", "app-1", "--format", "jsonl"]);
    expect(exported.stdout.trim().split("\n")).toHaveLength(2);
    expect(exported.stderr).toContain("warning: the transcript of app-1 is damaged");
    const { stdout } = await memoryCli(world, ["transcript", "verify"]);
    expect(stdout).toContain("4 messages cannot be read");
    expect(await json(world, "repair", "app-1")).toMatchObject({
      exitCode: 0,
      value: { data: [{ id: "app-1", outcome: "repaired", lostMessages: 4, salvagedBytes: log.length }] },
    });
    const salvage = { path: `${ref.folder}/app-1.events.jsonl.damaged`, bytes: log.length + 1 };
    expect((await json(world, "show", "app-1")).value).toMatchObject({ health: "healthy", salvage });
    expect((await memoryCli(world, ["transcript", "show", "app-1"])).stderr).toContain(salvage.path);
    expect((await json(world, "verify")).value).toMatchObject({ data: [{ salvage: salvage.path, lost: 0 }] });
    expect((await json(world, "verify")).exitCode).toBe(0);
    expect((await memoryCli(world, ["transcript", "repair", "app-1"])).stdout).toBe("app-1 is sound\n");
  });

  test("of a torn end that the checkpoint makes good for loses nothing, and says where the rest is", async () => {
    const { world, session, ref } = await recorded();
    session.add(...turns(3));
    await session.save();
    const path = `${ref.folder}/app-1.events.jsonl`;
    const log = world.transcriptFiles.peek(path) ?? new Uint8Array();
    world.transcriptFiles.poke(path, log.slice(0, -10));
    const shown = await json(world, "show", "app-1");
    expect(shown.value).toMatchObject({ messages: 6, health: "damaged", missing: 0 });
    expect((await memoryCli(world, ["transcript", "verify"])).stdout).toContain("the checkpoint holds it");
    const { stdout } = await memoryCli(world, ["transcript", "repair", "app-1"]);
    expect(stdout).toBe(`app-1 repaired, ${log.length - 10} bytes kept in ${path}.damaged, nothing lost\n`);
    expect((await json(world, "show", "app-1")).value).toMatchObject({ messages: 6, health: "healthy" });
  });

  test("without any says so", async () => {
    const { exitCode, stdout, stderr } = await memoryCli(aWorld(), ["transcript", "verify"]);
    expect([exitCode, stdout, stderr]).toEqual([0, "", "no transcripts yet\n"]);
  });
});

describe("ao transcript export", () => {
  test.each([
    ["markdown", `# app-1\n\n## 1. user · ${new Date(T0_MS).toISOString()}\n\nhi\nthere\n\n`],
    [
      "jsonl",
      `{"number":1,"role":"user","source":"hook","text":"hi\\nthere","turnId":null,"at":"${new Date(T0_MS).toISOString()}"}\n`,
    ],
  ])("prints all of it as %s", async (format, expected) => {
    const { world } = await recorded([aMessage({ text: "hi\nthere" })]);
    const { exitCode, stdout } = await memoryCli(world, [
      "transcript",
      "export",
      "app-1",
      "--format",
      format,
    ]);
    expect([exitCode, stdout]).toEqual([0, expected]);
  });
});

describe("ao transcript prune", () => {
  test("is refused while the session lives, then moves all of it into the trash for 14 days", async () => {
    const { world, id, ref } = await recorded();
    const refused = await memoryCli(world, ["transcript", "prune", "app-1"]);
    expect([refused.exitCode, refused.stderr]).toEqual([4, expect.stringContaining("app-1 is not over")]);
    await world.kill(id);
    expect(await json(world, "prune", "app-1")).toMatchObject({
      exitCode: 0,
      value: { data: [{ id: "app-1", files: expect.arrayContaining(["app-1.events.jsonl"]) }], deleted: [] },
    });
    expect(await world.transcriptFiles.list(ref.folder)).toEqual([]);
    world.clock.advance(14 * 24 * 3_600_000);
    expect((await json(world, "prune", "app-1")).value).toMatchObject({
      data: [{ files: [], bytes: 0 }],
      deleted: [],
    });
    world.clock.advance(1);
    const { stdout, stderr } = await memoryCli(world, ["transcript", "prune", "app-1"]);
    expect(stdout).toBe("app-1 has no transcript\n");
    expect(stderr).toContain("deleted 4 files, pruned 14 days ago or earlier");
  });

  test("of several tells what was pruned although it was refused another", async () => {
    const { world, id } = await recorded();
    await world.kill(id);
    await world.spawn();
    const { exitCode, stderr } = await memoryCli(world, ["transcript", "prune", "app-1", "app-2", "--json"]);
    expect(exitCode).toBe(4);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { details: { results: [{ id: "app-1" }], failures: [{ id: "app-2" }] } },
    });
    const text = await memoryCli(world, ["transcript", "prune", "app-1", "app-2"]);
    expect(text.stdout).toBe("app-1 has no transcript\n");
    expect(text.stderr).toContain("app-2");
  });

  test("leaves the transcript of a session that was restored before its files are moved", async () => {
    const { world, id, ref } = await recorded();
    await world.kill(id);
    const files = await world.transcriptFiles.list(ref.folder);
    const { transcripts } = world.deps;
    const prune: typeof transcripts.prune = async (...args) => {
      await world.restore(id);
      return transcripts.prune(...args);
    };
    const late = { ...world, deps: { ...world.deps, transcripts: { ...transcripts, prune } } };
    const refused = await memoryCli(late, ["transcript", "prune", "app-1"]);
    expect([refused.exitCode, refused.stderr]).toEqual([4, expect.stringContaining("app-1 is not over")]);
    expect(await world.transcriptFiles.list(ref.folder)).toEqual(expect.arrayContaining([...files]));
  });
});

test("ao show tells of the transcript", async () => {
  const { world, session } = await recorded();
  const { stdout } = await memoryCli(world, ["show", "app-1", "--json"]);
  expect(JSON.parse(stdout).transcript).toEqual({
    ...{ messages: 4, digest: session.base()?.digest, health: "healthy" },
    savedAt: new Date(T0_MS).toISOString(),
    ...{ turnInFlight: null, unsaved: null },
  });
  const text = await memoryCli(world, ["show", "app-1"]);
  expect(text.stdout).toContain("transcript    4 messages, healthy, saved");
});

test("a turn in flight is told by show, transcript show and verify", async () => {
  const { world, ref } = await recorded();
  await world.deps.transcripts.beginTurn(ref, { id: "talk 5", turnId: "turn-3", keeps: "said" });
  const turnInFlight = { turnId: "turn-3", since: expect.any(String) };
  const { stdout } = await memoryCli(world, ["show", "app-1", "--json"]);
  expect(JSON.parse(stdout).transcript).toMatchObject({ turnInFlight });
  expect((await json(world, "verify", "app-1")).value.data).toMatchObject([{ turnInFlight }]);
  const shown = await memoryCli(world, ["transcript", "show", "app-1", "--json"]);
  expect(JSON.parse(shown.stdout)).toMatchObject({ turnInFlight });
  const text = "turn turn-3 in flight since ";
  expect((await memoryCli(world, ["show", "app-1"])).stdout).toContain(text);
  expect((await memoryCli(world, ["transcript", "verify", "app-1"])).stdout).toContain(text);
  expect((await memoryCli(world, ["transcript", "show", "app-1"])).stderr).toContain(text);
});

test("a turn whose end was heard and is not saved yet is in flight no more", async () => {
  const { world, id, ref } = await recorded();
  await world.hear(id, "submit", { body: world.deps.store.promptOf(id) ?? "" });
  await observeSessions(world.deps);
  const turn = world.deps.turns.live(id);
  if (turn === undefined) throw new Error("no turn began");
  await world.deps.transcripts.beginTurn(ref, { id: "talk 5", turnId: turn.turnId, keeps: "said" });
  const inFlight = async (...argv: readonly string[]) => {
    const { stdout, stderr } = await memoryCli(world, argv);
    return `${stdout}${stderr}`.includes("in flight since");
  };
  const shows = [
    ["show", "app-1"],
    ["transcript", "show", "app-1"],
  ] as const;
  for (const argv of shows) expect(await inFlight(...argv)).toBe(true);
  world.clock.advance(10);
  await world.hear(id, "stop");
  for (const argv of shows) expect(await inFlight(...argv)).toBe(false);
  const { stdout } = await memoryCli(world, ["transcript", "show", "app-1", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ turnInFlight: null });
});

test("what could not be saved is told by list and show until it is", async () => {
  const { world } = await recorded();
  const mark = `${world.deps.dataDir}/unsaved/app-1`;
  await world.files.write(mark, "no space left");
  const listed = await memoryCli(world, ["list", "--json"]);
  expect(JSON.parse(listed.stdout).meta.unsaved).toEqual([{ id: "app-1", why: "no space left" }]);
  expect(listed.stderr).toBe("");
  expect((await memoryCli(world, ["list"])).stderr).toContain(
    "what was said in app-1 could not be saved (no space left); ao reconcile tries again",
  );
  const shown = await memoryCli(world, ["show", "app-1", "--json"]);
  expect(JSON.parse(shown.stdout).transcript).toMatchObject({ messages: 4, unsaved: "no space left" });
  expect((await memoryCli(world, ["show", "app-1"])).stdout).toContain("NOT saved since: no space left");
  await world.files.removeTree(mark);
  expect((await memoryCli(world, ["list"])).stderr).toBe("");
});
