import { describe, expect, test } from "vitest";
import type { FileWriter, TranscriptFiles } from "../../src/ports/transcript-files.ts";

/** Files, and an absolute folder that is not there yet, in another that is not there yet. */
export interface TranscriptFilesWorld {
  readonly files: TranscriptFiles;
  readonly folder: string;
}

const bytesOf = (text: string) => new TextEncoder().encode(text);

async function write(opening: Promise<FileWriter>, text: string): Promise<void> {
  const out = await opening;
  for (let rest = bytesOf(text); rest.length > 0; ) rest = rest.subarray(await out.write(rest));
  await out.fsync();
  await out.close();
  await out.close();
}

async function read(files: TranscriptFiles, path: string): Promise<string | undefined> {
  const file = await files.open(path);
  if (file === undefined) return undefined;
  const bytes = await file.read(0, file.sizeBytes + 10);
  await file.close();
  return new TextDecoder().decode(bytes);
}

/** What every `TranscriptFiles` owes its callers. */
export function transcriptFilesContract(name: string, open: () => Promise<TranscriptFilesWorld>): void {
  describe(`${name} are TranscriptFiles`, () => {
    async function inFolder() {
      const { files, folder } = await open();
      await files.makeFolder(folder);
      return { files, folder, path: `${folder}/a.jsonl` };
    }

    test("a folder is made with those it lies in, and once more without harm", async () => {
      const { files, folder } = await inFolder();
      await files.makeFolder(folder);
      await files.fsyncFolder(folder);
      expect(await files.list(folder)).toEqual([]);
    });

    test("what is missing is no file, and a missing folder holds none", async () => {
      const { files, folder } = await open();
      expect(await files.open(`${folder}/none`)).toBeUndefined();
      expect(await files.list(folder)).toEqual([]);
      await files.makeFolder(folder);
      expect(await files.open(`${folder}/none`)).toBeUndefined();
    });

    test("an append adds to the end, and makes a file that is missing", async () => {
      const { files, path } = await inFolder();
      await write(files.append(path), "one\n");
      await write(files.append(path), "zwö\n");
      expect(await read(files, path)).toBe("one\nzwö\n");
    });

    test("two writers of one file write behind each other", async () => {
      const { files, path } = await inFolder();
      const first = await files.append(path);
      const second = await files.append(path);
      await first.write(bytesOf("1"));
      await second.write(bytesOf("2"));
      await first.write(bytesOf("3"));
      await Promise.all([first.close(), second.close()]);
      expect(await read(files, path)).toBe("123");
    });

    test("a create begins with nothing, also where a file was", async () => {
      const { files, path } = await inFolder();
      await write(files.create(path), "long text");
      await write(files.create(path), "new");
      expect(await read(files, path)).toBe("new");
    });

    test("reads take offsets and lengths in bytes, and end where the file does", async () => {
      const { files, path } = await inFolder();
      await write(files.append(path), "zwölf");
      const file = await files.open(path);
      expect(file?.sizeBytes).toBe(6);
      const text = async (offset: number, maxBytes: number) =>
        Buffer.from((await file?.read(offset, maxBytes)) ?? []).toString();
      expect([await text(2, 2), await text(4, 100), await text(6, 1), await text(60, 1)]).toEqual([
        "ö",
        "lf",
        "",
        "",
      ]);
      await file?.close();
      await file?.close();
    });

    test("an open file stays itself when another takes its name", async () => {
      const { files, folder, path } = await inFolder();
      await write(files.append(path), "old");
      const file = await files.open(path);
      await write(files.create(`${folder}/draft`), "new");
      await files.rename(`${folder}/draft`, path);
      expect(Buffer.from((await file?.read(0, 3)) ?? []).toString()).toBe("old");
      await file?.close();
      expect(await read(files, path)).toBe("new");
      expect(await files.list(folder)).toEqual(["a.jsonl"]);
    });

    test("a truncate keeps the first bytes, and the next append stands behind them", async () => {
      const { files, path } = await inFolder();
      await write(files.append(path), "12345");
      await files.truncate(path, 2);
      await write(files.append(path), "x");
      expect(await read(files, path)).toBe("12x");
    });

    test("an unlink removes a name, and once more without harm", async () => {
      const { files, folder, path } = await inFolder();
      await write(files.append(path), "1");
      await files.unlink(path);
      await files.unlink(path);
      expect(await files.list(folder)).toEqual([]);
    });

    test("what cannot be done is data_dir_unusable", async () => {
      const { files, folder } = await open();
      const unusable = { code: "data_dir_unusable" };
      await expect(files.append(`${folder}/a`)).rejects.toMatchObject(unusable);
      await expect(files.create(`${folder}/a`)).rejects.toMatchObject(unusable);
      await expect(files.truncate(`${folder}/a`, 0)).rejects.toMatchObject(unusable);
      await expect(files.rename(`${folder}/a`, `${folder}/b`)).rejects.toMatchObject(unusable);
      await expect(files.fsyncFolder(folder)).rejects.toMatchObject(unusable);
    });
  });
}
