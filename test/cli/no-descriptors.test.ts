import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { AO, aoSandbox } from "../support/ao.ts";
import { errorSchema } from "../support/json-schemas.ts";

/** Node needs some twenty for itself; with forty there is enough for all. */
const LIMITS = [22, 24, 26, 28, 30];

describe("a spawn without file descriptors to spare", () => {
  test("ends with one error of ao's own, or goes well; none is an error of Node", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const seen = LIMITS.map((limit) => {
      const script = `ulimit -n ${limit}; exec "$0" "$@"`;
      const argv = [AO, "spawn", "--json", "--agent", "shell", "--", "sleep", "60"];
      const { status, stderr } = spawnSync("sh", ["-c", script, process.execPath, ...argv], {
        ...{ cwd, env: ao.env, encoding: "utf8" },
      });
      const code = status === 0 ? "ok" : errorSchema.parse(JSON.parse(stderr)).error.code;
      return { limit, code };
    });
    const codes = new Set(seen.map(({ code }) => code));
    expect([...codes], JSON.stringify(seen)).toContain("git_unavailable");
    expect(codes).not.toContain("internal");
  }, 60_000);
});
