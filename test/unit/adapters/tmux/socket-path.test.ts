import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseSocketPath, prepareSocketFolder } from "../../../../src/adapters/tmux/socket-path.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const deep = `/${"d".repeat(100)}`;
const input = {
  xdgRuntimeDir: "/run/user/1000",
  tmpDir: "/var/tmp",
  uid: 1000,
  dataDirDigest: "0123456789abcdef0123",
};

describe("chooseSocketPath", () => {
  test.each([
    ["the runtime folder comes first", {}, "/run/user/1000/ao-1000-0123456789abcdef/tmux"],
    ["then the temporary folder", { xdgRuntimeDir: undefined }, "/var/tmp/ao-1000-0123456789abcdef/tmux"],
    ["a relative runtime folder is none", { xdgRuntimeDir: "run" }, "/var/tmp/ao-1000-0123456789abcdef/tmux"],
    [
      "one that is too deep is passed over",
      { xdgRuntimeDir: deep },
      "/var/tmp/ao-1000-0123456789abcdef/tmux",
    ],
    ["/tmp comes last", { xdgRuntimeDir: deep, tmpDir: deep }, "/tmp/ao-1000-0123456789abcdef/tmux"],
    [
      "a temporary folder of macOS fits",
      { xdgRuntimeDir: undefined, tmpDir: "/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T", uid: 501 },
      "/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T/ao-501-0123456789abcdef/tmux",
    ],
  ])("%s", (_name, patch, path) => {
    expect(chooseSocketPath({ ...input, ...patch })).toBe(path);
  });

  test("it always fits into a socket address, and differs for every data directory and user", () => {
    const folder = fc.option(
      fc.string({ maxLength: 120 }).map((name) => `/${name}`),
      { nil: undefined },
    );
    const digest = fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 16, maxLength: 64 });
    fc.assert(
      fc.property(folder, folder, fc.nat(), digest, (xdgRuntimeDir, tmpDir, uid, dataDirDigest) => {
        const path = chooseSocketPath({ xdgRuntimeDir, tmpDir: tmpDir ?? "/tmp", uid, dataDirDigest });
        expect(Buffer.byteLength(path)).toBeLessThanOrEqual(103);
        expect(path).toContain(`${uid}-${dataDirDigest.slice(0, 16)}`);
      }),
    );
  });
});

describe("prepareSocketFolder", () => {
  const uid = process.getuid?.() ?? 0;

  test("a missing folder is made for this user alone, and one that is so is taken", async () => {
    const path = join(tempDir(), "ao", "tmux");
    const before = process.umask(0);
    await prepareSocketFolder(path, uid).finally(() => process.umask(before));
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    await expect(prepareSocketFolder(path, uid)).resolves.toBeUndefined();
  });

  test.each<[string, (folder: string) => void, number]>([
    ["others may enter it", (folder) => chmodSync(mkdir(folder), 0o750), uid],
    ["it belongs to another user", (folder) => mkdir(folder), uid + 1],
    ["it is a link", (folder) => symlinkSync(tempDir(), folder), uid],
    ["it is a file", (folder) => writeFileSync(folder, ""), uid],
  ])("a folder is refused with a hint when %s", async (_name, make, user) => {
    const folder = join(tempDir(), "ao");
    make(folder);
    await expect(prepareSocketFolder(join(folder, "tmux"), user)).rejects.toMatchObject({
      code: "runtime_unavailable",
      hint: expect.stringContaining(folder),
    });
  });

  test("a folder that cannot be made is one clear error", async () => {
    const path = join(tempDir(), "nosuch", "ao", "tmux");
    await expect(prepareSocketFolder(path, uid)).rejects.toMatchObject({ code: "runtime_unavailable" });
  });

  test("a path that is too long for a socket is refused before tmux sees it", async () => {
    await expect(prepareSocketFolder(join(deep, "tmux"), uid)).rejects.toMatchObject({
      code: "runtime_unavailable",
      message: expect.stringContaining("103 bytes"),
    });
  });
});

function mkdir(path: string): string {
  mkdirSync(path, { mode: 0o700 });
  return path;
}
