import { lstatSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { takeCheckpoint } from "../../../../../src/adapters/worktree/salvage/checkpoints.ts";
import { seenFiles } from "../../../../../src/adapters/worktree/salvage/seen-files.ts";
import type { TurnId } from "../../../../../src/domain/ids.ts";
import { tempDir } from "../../../../support/temp-dir.ts";
import { gitDirOf } from "../worktree-world.ts";
import { AT_MS, pictureOf, type SalvageWorld, SESSION, salvageWorld } from "./salvage-world.ts";

const OID = "a".repeat(40);

/** A file that has rested for an hour. */
function aFile() {
  const folder = tempDir("ao-seen");
  const path = join(folder, "file");
  writeFileSync(path, "one\n");
  utimesSync(path, Date.now() / 1000 - 3600, Date.now() / 1000 - 3600);
  return { folder, path, found: () => lstatSync(path, { bigint: true }) };
}

/** As if its times were an hour older: nobody can set when an inode changed. */
const rested = (found: ReturnType<ReturnType<typeof aFile>["found"]>) =>
  Object.assign(Object.create(found), { ctimeNs: found.ctimeNs - 3_600_000_000_000n });

describe("a file that was read before", () => {
  test("is known while nothing of it changed", async () => {
    const { folder, path, found } = aFile();
    const first = await seenFiles(folder, "sha1");
    const before = rested(found());
    first.note("file", before, OID);
    await first.save();
    const second = await seenFiles(folder, "sha1");
    expect(second.oidOf("file", before)).toBe(OID);
    expect(second.oidOf("other", before)).toBeUndefined();
    writeFileSync(path, "two\n");
    expect(second.oidOf("file", found())).toBeUndefined();
    expect((await seenFiles(folder, "sha256")).oidOf("file", before)).toBeUndefined();
  });

  test("is not remembered when it has changed just now", async () => {
    const { folder, found } = aFile();
    const first = await seenFiles(folder, "sha1");
    first.note("file", found(), OID);
    await first.save();
    expect((await seenFiles(folder, "sha1")).oidOf("file", found())).toBeUndefined();
  });

  test.each(["", "{", "null", '{"version":2}', '{"version":1,"format":"sha1","files":{"file":7}}'])(
    "is not known from %j",
    async (text) => {
      const { folder, found } = aFile();
      writeFileSync(join(folder, "ao-seen.json"), text);
      expect((await seenFiles(folder, "sha1")).oidOf("file", found())).toBeUndefined();
    },
  );
});

describe("a checkpoint", () => {
  const take = async (world: SalvageWorld, turnId: string) =>
    takeCheckpoint(await world.keeping(), {
      ...{ sessionId: SESSION, turnId: turnId as TurnId, edge: "end", atMs: AT_MS },
    });
  const memory = (world: SalvageWorld) => join(gitDirOf(world.path), "ao-seen.json");

  test("reads no untracked file twice, and every one that changed", async () => {
    const world = salvageWorld();
    world.write("notes.txt", "mine\n");
    await expect
      .poll(
        async () => {
          await take(world, `t${Math.random().toString(36).slice(2)}`);
          return Object.keys(JSON.parse(readFileSync(memory(world), "utf8")).files);
        },
        { timeout: 20_000, interval: 500 },
      )
      .toEqual(["notes.txt"]);
    const other = world.git("rev-parse", "HEAD:run.sh");
    const text = readFileSync(memory(world), "utf8");
    const lie = text.replace(/[0-9a-f]{40}/, other);
    writeFileSync(memory(world), lie);
    const believed = await take(world, "turn-1");
    expect(world.git("rev-parse", `${believed.commit}:notes.txt`)).toBe(other);
    world.write("notes.txt", "more\n");
    const read = await take(world, "turn-2");
    expect(world.git("cat-file", "blob", `${read.commit}:notes.txt`)).toBe("more");
  }, 60_000);

  test("reads everything when git has not what is remembered", async () => {
    const world = salvageWorld();
    world.write("notes.txt", "mine\n");
    const { ino, size, mode, mtimeNs, ctimeNs } = lstatSync(join(world.path, "notes.txt"), { bigint: true });
    const files = { "notes.txt": [[ino, size, mode, mtimeNs, ctimeNs].join(" "), OID] };
    writeFileSync(memory(world), JSON.stringify({ version: 1, format: "sha1", files }));
    const { commit } = await take(world, "turn-1");
    expect(world.git("cat-file", "blob", `${commit}:notes.txt`)).toBe("mine");
  });

  test("leaves no trace that a salvage keeps", async () => {
    const world = salvageWorld();
    world.write("notes.txt", "mine\n");
    const before = pictureOf(world.path);
    await take(world, "turn-1");
    expect(pictureOf(world.path)).toEqual(before);
    const first = await world.salvage();
    await take(world, "turn-2");
    expect(await world.salvage()).toEqual(first);
  });
});
