import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { dataDirectory } from "../../../../src/adapters/data-directory/data-directory.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const at = (path: string) => dataDirectory({ AO_DATA_DIR: path }, "/");

describe("the data directory", () => {
  test.each([0o000, 0o022, 0o077])(
    "is made for the user alone under umask %i, with those around it",
    (umask) => {
      const path = join(tempDir(), "new", "data");
      const before = process.umask(umask);
      onTestFinished(() => void process.umask(before));
      expect(at(path).prepare()).toBe(path);
      for (const folder of [path, join(path, "..")]) expect(statSync(folder).mode & 0o777).toBe(0o700);
    },
  );

  test("that is there keeps its mode, and links on the way are resolved", () => {
    const root = tempDir();
    mkdirSync(join(root, "real"), { mode: 0o750 });
    symlinkSync(join(root, "real"), join(root, "link"));
    expect(at(join(root, "link")).prepare()).toBe(join(root, "real"));
    expect(statSync(join(root, "real")).mode & 0o777).toBe(0o750);
  });

  test.each<[string, (root: string) => string]>([
    [
      "below a file",
      (root) => {
        writeFileSync(join(root, "file"), "");
        return join(root, "file", "data");
      },
    ],
    ["that nobody can make", () => "/proc/none/data"],
  ])("%s is data_dir_unusable", (_where, path) => {
    expect(() => at(path(tempDir())).prepare()).toThrow(
      expect.objectContaining({ code: "data_dir_unusable", hint: expect.stringContaining("AO_DATA_DIR") }),
    );
  });

  test("whose path is not what was given, for want of UTF-8, is neither made nor looked for", () => {
    const directory = dataDirectory({ HOME: join(tempDir(), "caf\ufffd") }, "/");
    for (const use of [directory.exists, directory.prepare, directory.resolved]) {
      expect(use).toThrow(expect.objectContaining({ code: "data_dir_unusable" }));
    }
    expect(existsSync(directory.path)).toBe(false);
  });

  test("is taken from AO_DATA_DIR, from an absolute XDG_DATA_HOME, else from the home folder", () => {
    const env = { AO_DATA_DIR: "rel", XDG_DATA_HOME: "/xdg", HOME: "/home/u" };
    expect(dataDirectory(env, "/work")).toMatchObject({ path: "/work/rel", origin: "AO_DATA_DIR" });
    const { AO_DATA_DIR: _none, ...rest } = env;
    expect(dataDirectory(rest, "/work")).toMatchObject({ path: "/xdg/ao", origin: "XDG_DATA_HOME" });
    expect(dataDirectory({ ...rest, XDG_DATA_HOME: "rel" }, "/work").path).toBe("/home/u/.local/share/ao");
  });
});
