import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../support/temp-dir.ts";

const SETUP = join(import.meta.dirname, "..", "..", "scripts", "setup.sh");

/** What `npm ci` does first, as npm 10 does: all that is in `node_modules` goes, also through a link. */
const NPM = "#!/bin/sh\nrm -rf node_modules/*\nexit 1\n";

test("a setup of a checkout whose packages are linked from elsewhere empties nothing there", () => {
  const checkout = tempDir("ao-checkout");
  const elsewhere = tempDir("ao-packages");
  const bin = tempDir("ao-bin");
  writeFileSync(join(elsewhere, "package"), "of another checkout\n");
  writeFileSync(join(bin, "npm"), NPM);
  chmodSync(join(bin, "npm"), 0o755);
  mkdirSync(join(checkout, "scripts"));
  cpSync(SETUP, join(checkout, "scripts", "setup.sh"));
  writeFileSync(join(checkout, "scripts", "node-headers.mjs"), "");
  symlinkSync(elsewhere, join(checkout, "node_modules"));
  const env = { ...process.env, PATH: `${bin}:${process.env["PATH"]}` };
  const { status, stderr } = spawnSync("sh", [join(checkout, "scripts", "setup.sh")], {
    env,
    encoding: "utf8",
  });
  expect(readdirSync(elsewhere)).toEqual(["package"]);
  expect({ status, stderr }).toEqual({
    status: 5,
    stderr: expect.stringMatching(/node_modules is a link.*\nhint: rm node_modules, then again\n$/),
  });
});
