import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemFiles } from "../../../../src/adapters/node/system-files.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const files = systemFiles({ dataDir: "/" });
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe("systemFiles.write", () => {
  test.each(["000", "022", "077"])("makes private files in private folders under umask %s", async (umask) => {
    const root = tempDir();
    const before = process.umask(Number.parseInt(umask, 8));
    onTestFinished(() => void process.umask(before));
    await files.write(join(root, "a", "b", "file"), "secret");
    expect([mode(join(root, "a")), mode(join(root, "a", "b"))]).toEqual(["700", "700"]);
    expect(mode(join(root, "a", "b", "file"))).toBe("600");
  });

  test("makes an open file private", async () => {
    const path = join(tempDir(), "file");
    writeFileSync(path, "old", { mode: 0o666 });
    await files.write(path, "new");
    expect(mode(path)).toBe("600");
  });

  test("leaves the mode of a folder that was there", async () => {
    const folder = join(tempDir(), "shared");
    mkdirSync(folder, { mode: 0o755 });
    await files.write(join(folder, "file"), "");
    expect(mode(folder)).toBe("755");
  });

  test("leaves nothing but the file", async () => {
    const root = tempDir();
    for (const content of ["one", "two"]) await files.write(join(root, "file"), content);
    expect(readdirSync(root)).toEqual(["file"]);
  });

  test("that fails leaves nothing behind", async () => {
    const root = tempDir();
    mkdirSync(join(root, "folder"));
    writeFileSync(join(root, "folder", "kept"), "");
    await expect(files.write(join(root, "folder"), "x")).rejects.toThrow(/cannot write/);
    expect(readdirSync(root)).toEqual(["folder"]);
  });

  test("replaces a link and leaves what it points to", async () => {
    const root = tempDir();
    writeFileSync(join(root, "target"), "kept");
    symlinkSync(join(root, "target"), join(root, "link"));
    await files.write(join(root, "link"), "new");
    expect(readFileSync(join(root, "target"), "utf8")).toBe("kept");
    expect(lstatSync(join(root, "link")).isFile()).toBe(true);
  });

  test("replaces a file and does not write into it", async () => {
    const root = tempDir();
    writeFileSync(join(root, "file"), "old");
    linkSync(join(root, "file"), join(root, "other name of the old"));
    await files.write(join(root, "file"), "new");
    expect(readFileSync(join(root, "other name of the old"), "utf8")).toBe("old");
  });

  test.each(["/proc/none/file", "/proc/none/deeper/file"])(
    "to %s, where no folder can be made, is data_dir_unusable with a hint",
    async (path) => {
      await expect(files.write(path, "x")).rejects.toMatchObject({
        code: "data_dir_unusable",
        message: expect.stringContaining(path),
        hint: expect.stringContaining("AO_DATA_DIR"),
      });
    },
  );
});

describe("systemFiles.read and exists", () => {
  test("a folder is not read as a file", async () => {
    const root = tempDir();
    await expect(files.read(root)).rejects.toMatchObject({ code: "data_dir_unusable" });
  });

  test("a dangling link exists, and nothing is read through it", async () => {
    const link = join(tempDir(), "link");
    symlinkSync("/nowhere", link);
    expect(await files.exists(link)).toBe(true);
    expect(await files.read(link)).toBeUndefined();
  });
});

describe("systemFiles.removeTree", () => {
  test.each(["", "/", "/."])(
    "refuses a link, written as link%s, and keeps what it points to",
    async (end) => {
      const root = tempDir();
      mkdirSync(join(root, "target"));
      writeFileSync(join(root, "target", "work"), "precious");
      symlinkSync(join(root, "target"), join(root, "link"));
      await expect(files.removeTree(join(root, "link") + end)).rejects.toMatchObject({
        code: "workspace_unsafe_path",
      });
      expect(readFileSync(join(root, "target", "work"), "utf8")).toBe("precious");
      expect(readlinkSync(join(root, "link"))).toBe(join(root, "target"));
    },
  );

  const LINKED = ["launch", "launch/app-1", "launch/app-1/l-1"];

  /**
   * A data directory with a link in place of `at`, which leads to what is laid out alike at `there`, with work in it.
   */
  function besideWork(dataDir: string, there: string, at: string): string {
    const work = join(there, "launch/app-1/l-1/work");
    mkdirSync(dirname(work), { recursive: true });
    writeFileSync(work, "precious");
    mkdirSync(dirname(join(dataDir, at)), { recursive: true });
    symlinkSync(join(there, at), join(dataDir, at));
    return work;
  }

  test.each(LINKED.flatMap((at) => [[at, "outside"] as const, [at, "in the data directory"] as const]))(
    "refuses what a link at %s leads to, %s",
    async (at, where) => {
      const dataDir = tempDir();
      const there = where === "outside" ? tempDir() : join(dataDir, "worktrees");
      const work = besideWork(dataDir, there, at);
      for (const path of LINKED.slice(LINKED.indexOf(at))) {
        const removing = systemFiles({ dataDir }).removeTree(join(dataDir, path));
        await expect(removing).rejects.toMatchObject({ code: "workspace_unsafe_path" });
      }
      expect(readFileSync(work, "utf8")).toBe("precious");
    },
  );

  test.each(["", "/", "/../beside", "/launch/../../beside"])(
    "refuses the data directory itself and what is beside it, written as the directory and %j",
    async (end) => {
      const root = tempDir();
      mkdirSync(join(root, "data", "launch"), { recursive: true });
      mkdirSync(join(root, "beside"));
      const own = systemFiles({ dataDir: join(root, "data") });
      await expect(own.removeTree(join(root, "data") + end)).rejects.toMatchObject({
        code: "workspace_unsafe_path",
      });
      expect(readdirSync(root).sort()).toEqual(["beside", "data"]);
    },
  );

  test("removes in a data directory that is itself reached through a link", async () => {
    const root = tempDir();
    mkdirSync(join(root, "real", "launch", "app-1"), { recursive: true });
    symlinkSync(join(root, "real"), join(root, "data"));
    await systemFiles({ dataDir: join(root, "data") }).removeTree(join(root, "data", "launch", "app-1"));
    expect(readdirSync(join(root, "real", "launch"))).toEqual([]);
  });

  test("removes the links inside and keeps what they point to", async () => {
    const root = tempDir();
    mkdirSync(join(root, "target"));
    writeFileSync(join(root, "target", "work"), "precious");
    mkdirSync(join(root, "tree"));
    symlinkSync(join(root, "target"), join(root, "tree", "folder"));
    symlinkSync(join(root, "target", "work"), join(root, "tree", "file"));
    symlinkSync("/nowhere", join(root, "tree", "dangling"));
    await files.removeTree(join(root, "tree"));
    expect(existsSync(join(root, "tree"))).toBe(false);
    expect(readFileSync(join(root, "target", "work"), "utf8")).toBe("precious");
  });
});
