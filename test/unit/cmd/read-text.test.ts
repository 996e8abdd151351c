import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Io } from "../../../cmd/io.ts";
import { readText } from "../../../cmd/read-text.ts";
import { tempDir } from "../../support/temp-dir.ts";

const MAX = 16 * 1024 * 1024;

function anIo(cwd: string, stdin: Iterable<Buffer> = []): Io {
  return { cwd, stdin: Readable.from(stdin) } as unknown as Io;
}

function read(cwd: string, path: string): Promise<string> {
  return readText(anIo(cwd), path, "--file");
}

function aPipe(): { readonly root: string; readonly path: string } {
  const root = tempDir();
  const path = join(root, "pipe");
  expect(spawnSync("mkfifo", [path]).status).toBe(0);
  return { root, path };
}

/** Writes to a pipe and closes it, once somebody reads. */
async function writeTo(path: string, ...parts: readonly (string | Buffer)[]): Promise<void> {
  const file = await open(path, "w");
  for (const part of parts) await file.write(part as string);
  await file.close();
}

describe("text", () => {
  test("of a file is read byte for byte, with its mark of byte order", async () => {
    const root = tempDir();
    const text = "\ufeffa\r\n\u{1f600}\u0000\ufffd b \n";
    writeFileSync(join(root, "text"), text);
    expect(await read(root, "text")).toBe(text);
  });

  test("of a named pipe is read to its end, also when its writer comes later and a letter is cut in two", async () => {
    const { root, path } = aPipe();
    const reading = read(root, "pipe");
    const [first, second] = [Buffer.from("a\u{1f600}").subarray(0, 3), Buffer.from("a\u{1f600}").subarray(3)];
    await writeTo(path, first, second);
    expect(await reading).toBe("a\u{1f600}");
  });

  test("of 16 MiB is read, and not a byte more, from a file, a pipe or standard input", async () => {
    const { root, path } = aPipe();
    writeFileSync(join(root, "most"), Buffer.alloc(MAX, 97));
    writeFileSync(join(root, "more"), Buffer.alloc(MAX + 1, 97));
    expect(await read(root, "most")).toHaveLength(MAX);
    const tooLong = { code: "usage", message: expect.stringContaining("longer than 16 MiB") };
    await expect(read(root, "more")).rejects.toMatchObject(tooLong);
    const writing = writeTo(path, Buffer.alloc(MAX + 1, 97)).catch(() => undefined);
    await expect(read(root, "pipe")).rejects.toMatchObject(tooLong);
    await writing;
    const chunk = Buffer.alloc(1 << 20, 97);
    const endless = (function* () {
      for (;;) yield chunk;
    })();
    await expect(readText(anIo(root, endless), "-", "--file")).rejects.toMatchObject(tooLong);
  });

  test.each<[string, (root: string) => string, string]>([
    ["a folder", (root) => root, "it is a folder"],
    ["a device that never ends", () => "/dev/zero", "it is a device"],
    ["nothing", (root) => join(root, "none"), "ENOENT"],
    [
      "a link to itself",
      (root) => {
        expect(spawnSync("ln", ["-s", "loop", join(root, "loop")]).status).toBe(0);
        return join(root, "loop");
      },
      "ELOOP",
    ],
  ])("of %s is refused", async (_what, path, why) => {
    const at = path(tempDir());
    await expect(read("/", at)).rejects.toMatchObject({
      code: "usage",
      message: expect.stringMatching(new RegExp(`^--file ${at} cannot be read: .*${why}`)),
    });
  });

  test("of a socket is refused", async () => {
    const root = tempDir();
    const server = createServer();
    onTestFinished(() => void server.close());
    await new Promise<void>((done) => server.listen(join(root, "socket"), done));
    await expect(read(root, "socket")).rejects.toMatchObject({ code: "usage" });
  });

  test.each([
    ["a lone byte", Buffer.from([0x61, 0xff])],
    ["a letter that is cut off", Buffer.from("é").subarray(0, 1)],
    ["a surrogate", Buffer.from([0xed, 0xa0, 0x80])],
  ])("with %s is refused, never changed", async (_what, bytes) => {
    const root = tempDir();
    mkdirSync(join(root, "sub"));
    writeFileSync(join(root, "sub", "text"), bytes);
    const refusal = { code: "usage", message: "--file sub/text is not UTF-8 text" };
    await expect(read(root, "sub/text")).rejects.toMatchObject(refusal);
    await expect(readText(anIo(root, [bytes]), "-", "--file")).rejects.toMatchObject({
      message: "standard input is not UTF-8 text",
    });
  });
});
