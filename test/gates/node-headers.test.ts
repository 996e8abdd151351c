import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../support/temp-dir.ts";

const SCRIPT = join(import.meta.dirname, "..", "..", "scripts", "node-headers.mjs");
const [major = "", minor = "", patch = ""] = process.versions.node.split(".");

/** What the script prints for a prefix with the headers of such a Node. */
function headersOf(version: readonly string[] | undefined): {
  readonly prefix: string;
  readonly said: string;
} {
  const prefix = tempDir();
  if (version !== undefined) {
    mkdirSync(join(prefix, "include", "node"), { recursive: true });
    const lines = ["MAJOR", "MINOR", "PATCH"].map(
      (name, index) => `#define NODE_${name}_VERSION ${version[index]}`,
    );
    writeFileSync(join(prefix, "include", "node", "node_version.h"), `${lines.join("\n")}\n`);
  }
  const { status, stdout } = spawnSync(process.execPath, [SCRIPT, prefix], { encoding: "utf8" });
  expect(status).toBe(0);
  return { prefix, said: stdout.trim() };
}

test("set-up compiles against the headers beside Node when they are of this very version", () => {
  const { prefix, said } = headersOf([major, minor, patch]);
  expect(said).toBe(prefix);
});

test.each([
  ["of another patch", [major, minor, String(Number(patch) + 1)]],
  ["of another major", [String(Number(major) + 2), minor, patch]],
  ["that are not there", undefined],
])("set-up leaves headers %s alone", (_what, version) => {
  expect(headersOf(version).said).toBe("");
});
