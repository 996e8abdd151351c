import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { memoryTranscriptFiles } from "../../src/adapters/memory/memory-transcript-files.ts";
import { systemTranscriptFiles } from "../../src/adapters/transcript-files/system-transcript-files.ts";
import { emptyDisk } from "../support/faulty-disk.ts";
import { faultyProcess } from "../support/faulty-transcript-files.ts";
import { tempDir } from "../support/temp-dir.ts";
import { transcriptFilesContract } from "./transcript-files.contract.ts";

transcriptFilesContract("memory", async () => ({
  files: memoryTranscriptFiles(),
  folder: "/data/transcripts/shop",
}));

transcriptFilesContract("system", async () => ({
  files: systemTranscriptFiles(),
  folder: join(tempDir("ao-transcripts"), "transcripts", "shop"),
}));

transcriptFilesContract("faulty, before any fault,", async () => ({
  files: faultyProcess(emptyDisk()).files,
  folder: "/data/transcripts/shop",
}));

describe("the files of the system", () => {
  const modeOf = (path: string) => statSync(path).mode & 0o777;

  test("are private, and those that others could read are made private by the next append", async () => {
    const folder = join(tempDir("ao-transcripts"), "transcripts", "shop");
    const files = systemTranscriptFiles();
    await files.makeFolder(folder);
    const path = join(folder, "a.jsonl");
    await (await files.append(path)).close();
    expect([modeOf(join(folder, "..")), modeOf(folder), modeOf(path)]).toEqual([0o700, 0o700, 0o600]);
    chmodSync(path, 0o644);
    await (await files.append(path)).close();
    expect(modeOf(path)).toBe(0o600);
  });

  test("are never reached through a link, and a pipe is not waited for", async () => {
    const folder = tempDir("ao-transcripts");
    const files = systemTranscriptFiles();
    const elsewhere = join(folder, "elsewhere");
    writeFileSync(elsewhere, "precious");
    const link = join(folder, "link");
    symlinkSync(elsewhere, link);
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    mkdirSync(join(folder, "directory"));
    const unusable = { code: "data_dir_unusable" };
    for (const path of [link, pipe, join(folder, "directory")]) {
      await expect(files.open(path)).rejects.toMatchObject(unusable);
    }
    await expect(files.append(link)).rejects.toMatchObject(unusable);
    await expect(files.create(link)).rejects.toMatchObject(unusable);
    await expect(files.truncate(link, 0)).rejects.toMatchObject(unusable);
    expect(readFileSync(elsewhere, "utf8")).toBe("precious");
    expect(await files.list(folder)).toEqual(["elsewhere"]);
  });
});
