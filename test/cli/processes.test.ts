import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { type Ao, aoSandbox } from "../support/ao.ts";

/** Whatever `ao` could think of starting; what an agent's own launch does is not looked up in this `PATH`. */
const PROGRAMS = ["git", "tmux", "sh", "bash", "ps", "cat", "cp", "mv", "rm", "find", "env", "node", "which"];
const SHELL = ["--agent", "shell", "--", "sleep", "600"];

/** A folder for `PATH` whose programs write down that they were started, and then are the true ones. */
function counted(ao: Ao): { readonly path: string; readonly log: string } {
  const [bin, log] = [join(ao.root, "counted"), join(ao.root, "started")];
  mkdirSync(bin);
  const path = ao.env["PATH"] ?? "";
  for (const name of PROGRAMS) {
    const file = join(bin, name);
    const lines = ["#!/bin/sh", `echo ${name} >> '${log}'`, `PATH='${path}' exec ${name} "$@"`];
    writeFileSync(file, `${lines.join("\n")}\n`);
    chmodSync(file, 0o755);
  }
  return { path: `${bin}${delimiter}${path}`, log };
}

/** How often each program was started, as `git 3, tmux 1`. */
function tally(log: string): string {
  const names = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
  const counts = PROGRAMS.map((name) => [name, names.filter((each) => each === name).length] as const);
  return counts
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
}

/**
 * All that each command starts, beside itself. A number that grows costs every user time: look for another way first.
 */
const STARTS = {
  "list, nothing live": "",
  "list of 1 live session": "tmux 1",
  "list of 5 live sessions": "tmux 1",
  "list of 5 live sessions, as recorded": "",
  "show of a live session": "tmux 2",
  "reconcile of 1 live session": "tmux 1",
  "reconcile of 5 live sessions": "tmux 1",
  spawn: "git 10, tmux 3",
  "kill of a clean session": "git 10, tmux 3",
  "cleanup of 1 kept worktree": "git 15, tmux 3",
  "cleanup of 2 kept worktrees": "git 29, tmux 5",
  "spawn with a worktree made ahead": "git 14, tmux 3",
} as const;

test("commands start as few processes as ever, and none for each session", async () => {
  const ao = aoSandbox();
  const repository = ao.repository();
  const { path, log } = counted(ao);
  const seen: Record<string, string> = {};
  const run = async (name: keyof typeof STARTS, argv: readonly string[]) => {
    rmSync(log, { force: true });
    const { exitCode, stderr } = await ao.run(argv, { cwd: repository, env: { PATH: path } });
    expect({ name, exitCode, stderr }).toMatchObject({ name, exitCode: 0 });
    seen[name] = tally(log);
  };
  const spawn = () => ao.spawn(repository, SHELL);
  const keep = (id: string) => ao.run(["kill", id, "--keep-worktree"], { cwd: repository });

  await run("list, nothing live", ["list"]);
  const first = await spawn();
  await ao.run(["reconcile"], { cwd: repository });
  await run("list of 1 live session", ["list"]);
  await run("reconcile of 1 live session", ["reconcile"]);
  await run("show of a live session", ["show", first]);
  await run("spawn", ["spawn", ...SHELL]);
  for (let count = 2; count < 5; count += 1) await spawn();
  await ao.run(["reconcile"], { cwd: repository });
  await run("list of 5 live sessions", ["list"]);
  await run("list of 5 live sessions, as recorded", ["list", "--stored"]);
  await run("reconcile of 5 live sessions", ["reconcile"]);
  await run("kill of a clean session", ["kill", first]);
  await keep("shop-2");
  await run("cleanup of 1 kept worktree", ["cleanup"]);
  for (const id of ["shop-3", "shop-4"]) await keep(id);
  await run("cleanup of 2 kept worktrees", ["cleanup"]);
  writeFileSync(join(repository, "ao.yaml"), "pool: 1\n");
  await ao.run(["reconcile"], { cwd: repository });
  await run("spawn with a worktree made ahead", ["spawn", ...SHELL]);
  expect(seen).toEqual(STARTS);
}, 60_000);
