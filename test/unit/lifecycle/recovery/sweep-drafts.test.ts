import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { systemFiles } from "../../../../src/adapters/node/system-files.ts";
import { dataLayout } from "../../../../src/domain/data-layout.ts";
import { draftName, isDraftName } from "../../../../src/domain/draft-name.ts";
import { reconcile } from "../../../../src/lifecycle/recovery/reconcile.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { aWorld } from "../../../support/world.ts";

const DAY_MS = 24 * 3_600_000;
const UUID = ["0b1e4a52-7c31-4a4e-9f0e-2d5f6f1f8a10", "1b1e4a52-7c31-4a4e-9f0e-2d5f6f1f8a10"] as const;

test("a reconcile removes the drafts of dead writers in every folder that stays, and no young one", async () => {
  const dataDir = tempDir();
  const { deps, clock } = aWorld();
  const nowMs = clock.nowMs();
  const paths = dataLayout(dataDir).draftFolders.map((folder) => join(folder, "file"));
  expect(paths).toHaveLength(3);
  for (const path of paths) {
    await mkdir(dirname(path), { recursive: true });
    for (const [name, ageMs] of [
      [path, 2 * DAY_MS],
      [draftName(path, UUID[0]), DAY_MS + 60_000],
      [draftName(path, UUID[1]), DAY_MS - 60_000],
    ] as const) {
      writeFileSync(name, "half");
      utimesSync(name, (nowMs - ageMs) / 1000, (nowMs - ageMs) / 1000);
    }
  }
  const { errors } = await reconcile({ ...deps, dataDir, files: systemFiles({ dataDir }) });
  expect(errors).toEqual([]);
  for (const path of paths) {
    expect(readdirSync(dirname(path)).sort()).toEqual(["file", `file.${UUID[1]}.tmp`]);
  }
});

test("drafts that cannot be removed are an error of the reconcile that stops nothing", async () => {
  const { deps } = aWorld();
  const files = { ...deps.files, removeDrafts: () => Promise.reject(new Error("no room")) };
  expect((await reconcile({ ...deps, files })).errors).toEqual([
    { subject: "drafts", code: "internal", message: "no room" },
  ]);
});

test.each([
  [draftName("/data/runtime/tmux-server.json", UUID[0]), true],
  ["app-1", false],
  ["app-1.tmp", false],
  [`${UUID[0]}.tmp`, false],
  [`app-1.${UUID[0]}`, false],
])("%s is a draft: %s", (name, isDraft) => {
  expect(isDraftName(name)).toBe(isDraft);
});
