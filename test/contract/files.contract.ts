import { describe, expect, test } from "vitest";
import type { Files } from "../../src/ports/files.ts";

/** Files and the folder to try them in. */
export interface FilesUnderTest {
  readonly files: Files;
  /** Absolute path of an empty folder. */
  readonly root: string;
}

/** What every `Files` owes its callers. */
export function filesContract(name: string, open: () => FilesUnderTest): void {
  describe(`${name} is a Files`, () => {
    test.each(["", "plain\n", "ä 🦉 \u0000 \r\n", "x".repeat(2_000_000)])(
      "what is written is read, whatever it is",
      async (content) => {
        const { files, root } = open();
        await files.write(`${root}/a`, content);
        expect(await files.read(`${root}/a`)).toBe(content);
      },
    );

    test("a write makes the missing folders and replaces what was there", async () => {
      const { files, root } = open();
      await files.write(`${root}/deep/er/a`, "one, and long");
      await files.write(`${root}/deep/er/a`, "two");
      expect(await files.read(`${root}/deep/er/a`)).toBe("two");
    });

    test.each(["missing", "missing/deeper", "file/below"])("nothing is read from %s", async (path) => {
      const { files, root } = open();
      await files.write(`${root}/file`, "");
      expect(await files.read(`${root}/${path}`)).toBeUndefined();
      expect(await files.exists(`${root}/${path}`)).toBe(false);
    });

    test("files and their folders exist", async () => {
      const { files, root } = open();
      await files.write(`${root}/folder/a`, "");
      expect(await files.exists(`${root}/folder/a`)).toBe(true);
      expect(await files.exists(`${root}/folder`)).toBe(true);
      expect(await files.exists(`${root}/fold`)).toBe(false);
    });

    test.each([
      ["a folder", "folder"],
      ["a path below a file", "folder/a/b"],
    ])("a write onto %s is data_dir_unusable and changes nothing", async (_what, path) => {
      const { files, root } = open();
      await files.write(`${root}/folder/a`, "kept");
      await expect(files.write(`${root}/${path}`, "lost")).rejects.toMatchObject({
        code: "data_dir_unusable",
      });
      expect(await files.read(`${root}/folder/a`)).toBe("kept");
    });

    test("a folder has the names of its files and folders, a missing one none", async () => {
      const { files, root } = open();
      for (const path of ["t/a", "t/b/c", "t/b/d", "t2/a"]) await files.write(`${root}/${path}`, path);
      expect([...(await files.names(`${root}/t`))].sort()).toEqual(["a", "b"]);
      expect(await files.names(`${root}/missing`)).toEqual([]);
    });

    test("a removed tree is gone with all it held, and its neighbours stay", async () => {
      const { files, root } = open();
      for (const path of ["t/a", "t/b/c", "t2/a"]) await files.write(`${root}/${path}`, path);
      await files.removeTree(`${root}/t`);
      expect(await files.exists(`${root}/t`)).toBe(false);
      expect(await files.read(`${root}/t2/a`)).toBe("t2/a");
    });

    test.each(["missing", "missing/deeper", "file/below"])("removing %s is no error", async (path) => {
      const { files, root } = open();
      await files.write(`${root}/file`, "kept");
      await files.removeTree(`${root}/${path}`);
      expect(await files.read(`${root}/file`)).toBe("kept");
    });

    test("a folder is removed once it is empty, and never what is in it", async () => {
      const { files, root } = open();
      await files.write(`${root}/folder/a/b`, "kept");
      for (const path of ["folder", "folder/a/b", "missing"])
        await files.removeEmptyFolder(`${root}/${path}`);
      expect(await files.read(`${root}/folder/a/b`)).toBe("kept");
      await files.removeTree(`${root}/folder/a`);
      await files.removeEmptyFolder(`${root}/folder`);
      await files.removeEmptyFolder(`${root}/folder`);
      expect(await files.exists(`${root}/folder`)).toBe(false);
    });

    test("drafts older than asked for are removed from a folder, and nothing else is", async () => {
      const { files, root } = open();
      const draft = "a.0b1e4a52-7c31-4a4e-9f0e-2d5f6f1f8a10.tmp";
      const others = ["a", "a.tmp", "a.0b1e4a52.tmp", `${draft}.txt`, `deeper/${draft}`];
      for (const path of [draft, ...others]) await files.write(`${root}/t/${path}`, path);
      await files.removeDrafts(`${root}/t`, Date.now() - 3_600_000);
      expect(await files.read(`${root}/t/${draft}`)).toBe(draft);
      for (let times = 0; times < 2; times += 1)
        await files.removeDrafts(`${root}/t`, Date.now() + 3_600_000);
      expect(await files.exists(`${root}/t/${draft}`)).toBe(false);
      for (const path of others) expect(await files.read(`${root}/t/${path}`)).toBe(path);
      await files.removeDrafts(`${root}/missing`, Date.now());
    });

    test("of writes at once to one file one is read, whole", async () => {
      const { files, root } = open();
      const contents = Array.from({ length: 20 }, (_, index) => `${index}`.repeat(10_000));
      await Promise.all(contents.map((content) => files.write(`${root}/a`, content)));
      expect(contents).toContain(await files.read(`${root}/a`));
    });
  });
}
