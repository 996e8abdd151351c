import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aoSandbox } from "../support/ao.ts";
import { expectSound } from "../support/crash-traces.ts";
import { killSchema } from "../support/json-schemas.ts";
import { SHELL } from "./crash-scenarios.ts";

/** A sandbox whose temporary folder is its own. */
function aSandbox() {
  const ao = aoSandbox();
  const temporary = join(ao.root, "temporary");
  mkdirSync(temporary);
  const env = { XDG_RUNTIME_DIR: undefined, TMPDIR: temporary };
  return { ao, cwd: ao.repository(), env, outside: () => readdirSync(temporary) };
}

test("nothing is left outside of the data directory once the last session has ended", async () => {
  const { ao, cwd, env, outside } = aSandbox();
  const ids = [await ao.spawn(cwd, SHELL, { env }), await ao.spawn(cwd, SHELL, { env })];
  for (const [index, id] of ids.entries()) {
    expect(outside()).toEqual([expect.stringMatching(/^ao-\d+-[0-9a-f]{16}$/)]);
    await ao.json(killSchema, ["kill", id], { env });
    expect(outside()).toHaveLength(index === 0 ? 1 : 0);
  }
});

test("sessions that begin while the last ones end all run, and leave nothing", async () => {
  const { ao, cwd, env, outside } = aSandbox();
  const cycle = async () => {
    for (let times = 0; times < 4; times++) {
      await ao.json(killSchema, ["kill", await ao.spawn(cwd, SHELL, { env })], { env });
    }
  };
  await Promise.all([cycle(), cycle(), cycle()]);
  await expect.poll(outside).toEqual([]);
  expect(expectSound(ao, cwd).rows).toHaveLength(12);
});
