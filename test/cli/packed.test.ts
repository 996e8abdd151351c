import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aoSandbox } from "../support/ao.ts";
import { listSchema } from "../support/json-schemas.ts";
import { tempDir } from "../support/temp-dir.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** Runs a program that must succeed. */
function must(program: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Packs the built tree as it would be published, and unpacks it beside what it depends on; nothing is fetched. */
function install(): string {
  const folder = tempDir("ao-packed");
  const cache = ["--cache", join(folder, "cache"), "--offline"];
  must("npm", ["pack", "--ignore-scripts", "--pack-destination", folder, ...cache], ROOT);
  const [archive = ""] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  mkdirSync(join(folder, "node_modules"));
  must("tar", ["-xzf", archive, "-C", "node_modules"], folder);
  for (const name of readdirSync(join(ROOT, "node_modules"))) {
    symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  }
  return join(folder, "node_modules", "package");
}

test("the installed ao is the same command line as ./ao", async () => {
  const installed = join(install(), "dist", "ao.js");
  const ao = aoSandbox();
  const packed = aoSandbox(installed);
  for (const argv of [["--version"], ["--help"], ["list"], ["list", "--help"], ["agents"], ["show", "x"]]) {
    const result = await packed.run(argv, { env: ao.env, cwd: ao.root });
    expect(result).toEqual(await ao.run(argv));
    expect(result.exitCode).toBe(argv[0] === "show" ? 3 : 0);
  }
  // What it does besides is to set the checkout up.
  expect(readFileSync(join(ROOT, "ao"), "utf8").trimEnd()).toMatch(
    /\nexec node "\$root\/dist\/ao.js" "\$@"$/,
  );

  const id = await packed.spawn(packed.repository(), ["--prompt", "say hello"]);
  await packed.until(id, "idle");
  const { data } = await ao.json(listSchema, ["list"], { env: packed.env });
  expect(data).toMatchObject([{ id, agent: "embedded", status: "idle" }]);
});
