import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fileInbox } from "../../../../src/adapters/inbox/file-inbox.ts";
import type { LaunchId } from "../../../../src/domain/ids.ts";
import { anEvent } from "../../../contract/inbox.contract.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { unprivileged } from "../../../support/unprivileged.ts";

const DAY_MS = 24 * 3_600_000;
const HEAD = "ao-hook 1\nsession app-7\nlaunch l-1\nagent codex\nevent Stop\n";

/** An inbox folder that is there already, so that a test can drop files into it. */
function aFolder(): { readonly dir: string; readonly drop: (name: string, text: string) => string } {
  const dir = join(tempDir(), "inbox");
  mkdirSync(join(dir, "new"), { recursive: true });
  const drop = (name: string, text: string) => {
    writeFileSync(join(dir, "new", name), text);
    return join(dir, "new", name);
  };
  return { dir, drop };
}

describe("fileInbox", () => {
  test("reading makes no folder", async () => {
    const dir = join(tempDir(), "inbox");
    await fileInbox({ dir }).pending();
    await fileInbox({ dir }).remove(["x"]);
    expect(existsSync(dir)).toBe(false);
  });

  test("folders are 0700 and events 0600, and no draft stays", async () => {
    const dir = join(tempDir(), "data", "inbox");
    await fileInbox({ dir }).put(anEvent());
    const [name] = readdirSync(join(dir, "new"));
    const modes = [dir, join(dir, "tmp"), join(dir, "new"), join(dir, "new", name ?? "")].map(
      (path) => statSync(path).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o700, 0o700, 0o600]);
    expect(readdirSync(join(dir, "tmp"))).toEqual([]);
  });

  test("every writer's file is found by the launch that it is of, whatever digits that ends in", async () => {
    const pid = fc.nat({ max: 4_194_304 });
    const named = fc.record({ launch: fc.uuid(), numbers: fc.array(pid, { minLength: 2, maxLength: 4 }) });
    const digits = { launch: "3f0c4a1e-5d2b-4c6a-9e8f-446655440000", numbers: [4711, 7] };
    await fc.assert(
      fc.asyncProperty(named, async ({ launch, numbers }) => {
        const { dir, drop } = aFolder();
        drop([launch, ...numbers].join("-"), `${HEAD.replace("l-1", launch)}\nbody`);
        expect(await fileInbox({ dir }).pending(launch as LaunchId)).toHaveLength(1);
      }),
      { examples: [[digits]], numRuns: 50 },
    );
  });

  test("an event of a launch is found under any name, and no file of another launch is opened for it", async () => {
    const { dir, drop } = aFolder();
    const mine = "3f0c4a1e-5d2b-4c6a-9e8f-446655440000";
    const other = mine.replace("3", "4");
    const head = HEAD.replace("l-1", mine);
    drop("mine", `${head}\none`);
    drop(`${mine}-10-20-0`, `${head}\ntwo`);
    drop("001796103041780-2886-000000005", `${head}\nthree`);
    drop("of-another", `${HEAD}\nof another`);
    drop(`${other}-10-20-0`, `${head}\nmisnamed`);
    const bodies = (await fileInbox({ dir }).pending(mine as LaunchId)).map(({ body }) => body);
    expect(bodies.sort()).toEqual(["one", "three", "two"]);
  });

  test("the name of an event is its id, led by launch, time of writing and the writer's pid", async () => {
    const dir = join(tempDir(), "inbox");
    const inbox = fileInbox({ dir });
    await inbox.put(anEvent());
    const [name] = readdirSync(join(dir, "new"));
    expect(name).toMatch(new RegExp(`^launch-1-00\\d{13}-${process.pid}-\\d+$`));
    expect((await inbox.pending()).map(({ id }) => id)).toEqual([name]);
  });

  test("an event that a shell wrote is read, with the time of its file", async () => {
    const { dir } = aFolder();
    const script =
      'umask 077; mkdir -p "$1/tmp"; { printf "%s\\n" "$2"; cat; } >"$1/tmp/e"; mv "$1/tmp/e" "$1/new/e"';
    const ran = spawnSync("sh", ["-c", script, "sh", dir, HEAD], { input: '{"x":"y"}' });
    expect(ran.status).toBe(0);
    utimesSync(join(dir, "new", "e"), 1_600_000_000.25, 1_600_000_000.25);
    expect(await fileInbox({ dir }).pending()).toEqual([
      {
        id: "e",
        sessionId: "app-7",
        launchId: "l-1",
        agent: "codex",
        event: "Stop",
        atMs: 1_600_000_000_250,
        body: '{"x":"y"}',
      },
    ]);
  });

  test("events of one time come in the order of their names", async () => {
    const { dir, drop } = aFolder();
    for (const name of ["b", "c", "a"]) drop(name, `${HEAD}time 5\n\n`);
    expect((await fileInbox({ dir }).pending()).map(({ id }) => id)).toEqual(["a", "b", "c"]);
  });

  test("what is no event stays where it is and hides no other", async () => {
    const { dir, drop } = aFolder();
    drop("good", `${HEAD}\nbody`);
    drop("empty", "");
    drop("binary", "\0\xff\xfe");
    drop("huge", `${HEAD}\n${"x".repeat(9 * 1024 * 1024)}`);
    const outside = join(tempDir(), "outside");
    writeFileSync(outside, `${HEAD}\nsecret`);
    symlinkSync(outside, join(dir, "new", "link"));
    symlinkSync("nowhere", join(dir, "new", "dangling"));
    mkdirSync(join(dir, "new", "folder"));
    expect(spawnSync("sh", ["-c", 'mkfifo "$1"', "sh", join(dir, "new", "pipe")]).status).toBe(0);
    const before = readdirSync(join(dir, "new"));
    expect((await fileInbox({ dir }).pending()).map(({ id }) => id)).toEqual(["good"]);
    expect(readdirSync(join(dir, "new"))).toEqual(before);
  });

  test("a tidy sets aside what is no event, whatever it is, and counts it", async () => {
    const { dir, drop } = aFolder();
    drop("good", `${HEAD}\nbody`);
    drop("headless", HEAD);
    drop("huge", `${HEAD}\n${"x".repeat(9 * 1024 * 1024)}`);
    symlinkSync("nowhere", join(dir, "new", "dangling"));
    mkdirSync(join(dir, "new", "folder"));
    expect(spawnSync("sh", ["-c", 'mkfifo "$1"', "sh", join(dir, "new", "pipe")]).status).toBe(0);
    const inbox = fileInbox({ dir });
    expect(await inbox.tidy(Date.now())).toBe(5);
    expect(readdirSync(join(dir, "new"))).toEqual(["good"]);
    expect(readdirSync(join(dir, "aside")).sort()).toEqual([
      "dangling",
      "folder",
      "headless",
      "huge",
      "pipe",
    ]);
    expect(await inbox.tidy(Date.now())).toBe(5);
  });

  test("half an event waits for its end, hides no other, and is set aside and counted after a day", async () => {
    const { dir, drop } = aFolder();
    const half = `${HEAD.replace("1", "2")}end e\n\nbo`;
    for (const [name, text] of Object.entries({ good: `${HEAD}\nbody`, empty: "", half, slow: half })) {
      drop(name, text);
    }
    const inbox = fileInbox({ dir });
    const waiting = async () => (await inbox.pending()).map(({ id, body }) => [id, body]);
    expect(await waiting()).toEqual([["good", "body"]]);
    expect(await inbox.tidy(Date.now() + DAY_MS - 60_000)).toBe(0);
    appendFileSync(join(dir, "new", "slow"), "dy\nend e\n");
    expect((await waiting()).sort()).toEqual([
      ["good", "body"],
      ["slow", "body"],
    ]);
    expect(await inbox.tidy(Date.now() + DAY_MS + 60_000)).toBe(2);
    expect(readdirSync(join(dir, "aside")).sort()).toEqual(["empty", "half"]);
  });

  test("a file that will never be opened is set aside and counted, like what is no event", async () => {
    const { dir, drop } = aFolder();
    chmodSync(drop("good", `${HEAD}\nbody`), 0o644);
    chmodSync(drop("locked", `${HEAD}\nbody`), 0o000);
    const inbox = fileInbox({ dir });
    const [root, ready] = [join(dir, ".."), join(dir, "new")];
    expect(await unprivileged([root, dir, ready], () => inbox.tidy(Date.now()))).toBe(1);
    expect(readdirSync(ready)).toEqual(["good"]);
    expect(await inbox.countAside()).toBe(1);
  });

  test("a tidy removes drafts after a day and what lies aside after 14, and no younger ones", async () => {
    const { dir, drop } = aFolder();
    drop("bad", HEAD);
    mkdirSync(join(dir, "tmp"));
    writeFileSync(join(dir, "tmp", "draft"), "");
    const inbox = fileInbox({ dir });
    expect(await inbox.tidy(Date.now() + DAY_MS - 60_000)).toBe(1);
    expect(readdirSync(join(dir, "tmp"))).toEqual(["draft"]);
    expect(await inbox.tidy(Date.now() + DAY_MS + 60_000)).toBe(1);
    expect(readdirSync(join(dir, "tmp"))).toEqual([]);
    expect(await inbox.tidy(Date.now() + 14 * DAY_MS - 60_000)).toBe(1);
    expect(await inbox.tidy(Date.now() + 14 * DAY_MS + 60_000)).toBe(0);
  });

  test.each([
    ["a newline", "a\nb"],
    ["a leading hyphen", "-rf"],
    ["a shell command", "$(touch x); #(touch y)"],
    ["a terminal sequence", "\x1b[31m"],
    ["only an emoji", "🙂"],
    ["the longest name", "x".repeat(255)],
  ])("a file whose name is %s is read and removed like any other", async (_what, name) => {
    const { dir, drop } = aFolder();
    const path = drop(name, `${HEAD}\nbody`);
    const inbox = fileInbox({ dir });
    expect((await inbox.pending()).map(({ id }) => id)).toEqual([name]);
    await inbox.remove([name]);
    expect(existsSync(path)).toBe(false);
  });

  test("an id that is a path removes nothing outside of the folder", async () => {
    const { dir } = aFolder();
    const victim = join(dir, "victim");
    writeFileSync(victim, "kept");
    mkdirSync(join(dir, "new", "folder"));
    const paths = ["../victim", victim, "folder/../../victim"];
    await fileInbox({ dir }).remove([...paths, "folder"]);
    await fileInbox({ dir }).setAside(paths);
    expect(readFileSync(victim, "utf8")).toBe("kept");
    expect(existsSync(join(dir, "new", "folder"))).toBe(true);
  });

  test("two readers that remove the same events do not disturb each other", async () => {
    const { dir, drop } = aFolder();
    for (let index = 0; index < 100; index += 1) drop(`e${index}`, `${HEAD}\n`);
    const [one, other] = [fileInbox({ dir }), fileInbox({ dir })];
    const ids = (await one.pending()).map(({ id }) => id);
    await Promise.all([one.remove(ids), other.remove(ids)]);
    expect(await other.pending()).toEqual([]);
  });

  test("an inbox that is no folder is an unusable data directory", async () => {
    const dir = join(tempDir(), "inbox");
    writeFileSync(dir, "");
    const unusable = { code: "data_dir_unusable", message: expect.stringContaining(dir) };
    await expect(fileInbox({ dir }).pending()).rejects.toMatchObject(unusable);
    await expect(fileInbox({ dir }).put(anEvent())).rejects.toMatchObject(unusable);
    await expect(fileInbox({ dir }).remove(["x"])).rejects.toMatchObject(unusable);
    await expect(fileInbox({ dir }).setAside(["x"])).rejects.toMatchObject(unusable);
    await expect(fileInbox({ dir }).tidy(0)).rejects.toMatchObject(unusable);
  });

  test("a put that fails leaves nothing behind", async () => {
    const dir = join(tempDir(), "inbox");
    mkdirSync(dir);
    writeFileSync(join(dir, "new"), "");
    await expect(fileInbox({ dir }).put(anEvent())).rejects.toMatchObject({ code: "data_dir_unusable" });
    expect(readdirSync(join(dir, "tmp"))).toEqual([]);
  });

  test("two thousand events are read whole and in order", async () => {
    const { dir, drop } = aFolder();
    const names = Array.from({ length: 2_000 }, (_, index) => String(index).padStart(5, "0"));
    for (const name of names) drop(name, `${HEAD}time 5\n\n{"n":"${name}"}`);
    expect((await fileInbox({ dir }).pending()).map(({ body }) => body)).toEqual(
      names.map((name) => `{"n":"${name}"}`),
    );
  });
});
