import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aoSandbox } from "../support/ao.ts";
import { listSchema } from "../support/json-schemas.ts";

const LIBRARY = join(import.meta.dirname, "..", "..", "dist", "index.js");

const PROGRAM = `
import { anEmptySpawn, deriveStatus, isAoError, killSession, listSessions, openAo, planSpawn, resolveSessionId, spawnPlanned } from ${JSON.stringify(LIBRARY)};
const ao = await openAo({ env: process.env, cwd: process.cwd(), access: "create" });
const plan = await planSpawn(ao, { project: null, kind: "worker", agent: null });
const { record } = await spawnPlanned(ao, plan, { ...anEmptySpawn, title: "From a program" });
const { sessions } = await listSessions(ao.deps, { projectId: null, stored: true });
console.log(record.id, deriveStatus(sessions[0].lifecycle));
try {
  resolveSessionId(ao.deps, "nope");
} catch (error) {
  console.log(isAoError(error, "session_not_found"));
}
await killSession(ao.deps, record.id, { reason: "manual", note: null, keepWorktree: false, callerSessionId: null });
ao.close();
`;

test("a program spawns and kills through the library what the command line lists", async () => {
  const ao = aoSandbox();
  const cwd = ao.repository();
  const path = join(ao.root, "program.mjs");
  writeFileSync(path, PROGRAM);
  const { stdout, stderr, status } = spawnSync(process.execPath, [path], {
    cwd,
    env: ao.env,
    encoding: "utf8",
  });
  expect({ stdout, stderr, status }).toEqual({ stdout: "shop-1 spawning\ntrue\n", stderr: "", status: 0 });
  const { data } = await ao.json(listSchema, ["list", "-a"]);
  expect(data).toMatchObject([{ id: "shop-1", title: "From a program", status: "killed" }]);
});
