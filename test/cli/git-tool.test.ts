import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Ao, aoSandbox } from "../support/ao.ts";
import { killSchema, sendSchema } from "../support/json-schemas.ts";

const SLEEP = ["--agent", "shell", "--", "sleep", "60"];
const PATH = process.env["PATH"] ?? "";

/** A folder for `PATH` with a program of one's own in it. */
function binWith(ao: Ao, name: string, script: string): string {
  const folder = join(ao.root, "bin");
  mkdirSync(folder);
  writeFileSync(join(folder, name), script);
  chmodSync(join(folder, name), 0o755);
  return folder;
}

/** A `PATH` with tmux and without git. */
function pathWithoutGit(ao: Ao): string {
  const folder = join(ao.root, "no-git");
  mkdirSync(folder);
  for (const name of ["tmux", "node", "sh"]) {
    const found = PATH.split(delimiter)
      .map((entry) => join(entry, name))
      .find(existsSync);
    if (found !== undefined) symlinkSync(found, join(folder, name));
  }
  return folder;
}

describe("git", () => {
  test("that is too old is refused by spawn before anything is made", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const script = `#!/bin/sh
case "$*" in *--version) echo "git version 2.20.1" ;; *) PATH='${PATH}' exec git "$@" ;; esac
`;
    const env = { PATH: `${binWith(ao, "git", script)}${delimiter}${PATH}` };
    const before = await ao.traces(cwd);
    expect(await ao.error(["spawn", ...SLEEP], { cwd, env })).toMatchObject({
      exitCode: 5,
      code: "git_unavailable",
      message: "git 2.20.1 is older than 2.25",
    });
    expect(await ao.traces(cwd)).toEqual(before);
  });

  test("that hangs holds no message up: it is delivered, and its turn goes without a checkpoint", async () => {
    const ao = aoSandbox();
    const id = await ao.spawn(ao.repository(), ["--prompt", "hello"]);
    await ao.until(id, "idle");
    const env = { PATH: `${binWith(ao, "git", "#!/bin/sh\nexec sleep 300\n")}${delimiter}${PATH}` };
    const sent = await ao.json(sendSchema, ["send", id, "hi", "--timeout", "2s"], { env });
    expect(sent).toMatchObject({ state: "delivered" });
  });

  test("that is missing is exit 5 for a kill, and the session lives on", async () => {
    const ao = aoSandbox();
    const id = await ao.spawn(ao.repository(), SLEEP);
    const env = { PATH: pathWithoutGit(ao) };
    expect(await ao.error(["kill", id], { env })).toMatchObject({ exitCode: 5, code: "git_unavailable" });
    expect(ao.tmux("list-sessions", "-F", "#{session_name}")).toBe(id);
    expect(await ao.json(killSchema, ["kill", id, "--keep-worktree"], { env })).toMatchObject({
      alreadyTerminated: false,
      workspaceFreed: false,
    });
    expect(await ao.json(killSchema, ["kill", id])).toMatchObject({ workspaceFreed: true });
  });
});
