import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemProcessTable } from "../../src/adapters/processes/system-process-table.ts";
import type { ProcessIdentity } from "../../src/domain/session.ts";
import { type Ao, aoSandbox } from "../support/ao.ts";
import { doctorSchema, killSchema, spawnSchema } from "../support/json-schemas.ts";
import { tempDir } from "../support/temp-dir.ts";

const SLEEP = ["--agent", "shell", "--", "sleep", "60"];

const PROCESSES = systemProcessTable();

/** The agents and the tmux server of a socket that may be gone by the end of the test. */
async function processesBehind(socketPath: string): Promise<readonly ProcessIdentity[]> {
  const argv = ["-S", socketPath, "list-panes", "-a", "-F", "#{pane_pid} #{pid}"];
  const { stdout } = spawnSync("tmux", argv, { encoding: "utf8" });
  const found = await Promise.all(
    stdout
      .trim()
      .split(/\s+/)
      .map((pid) => PROCESSES.identify(Number(pid))),
  );
  return found.filter((identity) => identity !== undefined);
}

/** A session that was started in a login whose temporary folder goes with it. */
async function spawnInShortLogin(ao: Ao, cwd: string) {
  const folder = tempDir("ao-login");
  const env = { XDG_RUNTIME_DIR: undefined, TMPDIR: folder };
  const session = await ao.json(spawnSchema, ["spawn", ...SLEEP], { cwd, env });
  const left = await processesBehind(session.runtime?.socketPath ?? "");
  onTestFinished(async () => {
    for (const one of left) await PROCESSES.signal(one, "SIGKILL");
  });
  return { folder, session };
}

async function socketCheck(ao: Ao) {
  const { stdout } = await ao.run(["doctor", "--json"]);
  return doctorSchema.parse(JSON.parse(stdout)).checks.find(({ name }) => name === "tmux socket");
}

describe("the folder around the tmux socket", () => {
  test("may go with its login: the next spawn chooses another one, and all later ones keep to that", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const { folder, session } = await spawnInShortLogin(ao, cwd);
    expect(session.runtime?.socketPath.startsWith(folder)).toBe(true);
    await ao.json(killSchema, ["kill", session.id]);
    rmSync(folder, { recursive: true });

    const second = await ao.json(spawnSchema, ["spawn", ...SLEEP], { cwd });
    expect(second.runtime?.socketPath.startsWith(join(ao.root, "run"))).toBe(true);
    expect(await socketCheck(ao)).toMatchObject({ status: "pass" });
    const third = await spawnInShortLogin(ao, cwd);
    expect(third.session.runtime?.socketPath).toBe(second.runtime?.socketPath);
  });

  test("is not given up while a session may live there, and doctor says that none can start", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const { folder } = await spawnInShortLogin(ao, cwd);
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "no folder\n");

    expect(await ao.error(["spawn", ...SLEEP], { cwd })).toMatchObject({
      exitCode: 5,
      code: "runtime_unavailable",
    });
    const check = await socketCheck(ao);
    expect(check).toMatchObject({
      status: "fail",
      detail: expect.stringContaining(`${folder} is no folder`),
    });
    expect(check?.fix).toContain(`mkdir -p -m 700 ${folder}`);
  });
});
