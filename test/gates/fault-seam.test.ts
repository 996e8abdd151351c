import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const FAULT_CODE = /AO_FAULT_|crashAt/;
const built = (path: string) => readFileSync(join(ROOT, path), "utf8");

describe("the seam at which tests kill a command", () => {
  test.each(["dist/ao.js", "dist/ao-main.cjs", "dist/embedded-agent.js", "dist/index.js"])(
    "is not in %s",
    (path) => {
      expect(FAULT_CODE.test(built(path))).toBe(false);
    },
  );

  test("is in the build for the crash tests, which is not published", () => {
    expect(FAULT_CODE.test(built("dist-faults/ao-main.cjs"))).toBe(true);
    expect(JSON.parse(built("package.json")).files).not.toContain("dist-faults");
  });
});
