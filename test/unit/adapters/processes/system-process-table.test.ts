import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync, readlinkSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemProcessTable } from "../../../../src/adapters/processes/system-process-table.ts";
import type { ProcessIdentity } from "../../../../src/domain/session.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const table = systemProcessTable();

interface Start {
  readonly program?: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

function start({ program = "sh", args, cwd = "/", env = {} }: Start): ChildProcess {
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return child;
}

async function identityOf(pid: number | undefined): Promise<ProcessIdentity> {
  const identity = await table.identify(pid ?? -1);
  if (identity === undefined) throw new Error(`process ${pid} did not start`);
  onTestFinished(() => table.signal(identity, "SIGKILL"));
  return identity;
}

async function printedPid(child: ChildProcess): Promise<number> {
  const [chunk] = await once(child.stdout ?? child, "data");
  return Number.parseInt(String(chunk), 10);
}

describe.runIf(process.platform === "linux")("systemProcessTable on Linux", () => {
  test("a process killed by kill -9 is alive before and dead after", async () => {
    const child = start({ args: ["-c", "exec sleep 600"] });
    const identity = await identityOf(child.pid);
    expect(await table.look([identity])).toEqual([{ kind: "alive" }]);
    const exited = once(child, "exit");
    process.kill(identity.pid, "SIGKILL");
    await exited;
    expect(await table.look([identity])).toEqual([{ kind: "dead" }]);
  });

  test("a stored pid that belongs to another process by now signals nobody", async () => {
    const innocent = await identityOf(start({ args: ["-c", "exec sleep 600"] }).pid);
    for (const name of ["SIGTERM", "SIGKILL", "SIGUSR1"] as const) {
      await table.signal({ ...innocent, startTime: String(Number(innocent.startTime) - 1) }, name);
    }
    expect(await table.look([innocent])).toEqual([{ kind: "alive" }]);
  });

  test("a program whose name looks like a stat line is seen right", async () => {
    const program = join(tempDir(), "a) Z 0 (\nb");
    copyFileSync("/bin/sleep", program);
    const child = start({ program, args: ["600"], env: { AO_LAUNCH_ID: "launch-hostile" } });
    const identity = await identityOf(child.pid);
    expect(await table.look([identity])).toEqual([{ kind: "alive" }]);
    await expect
      .poll(() => table.family(null, { name: "AO_LAUNCH_ID", value: "launch-hostile" }))
      .toEqual([identity]);
  });

  test("children that left the session, ignore hang-ups or lost their parent are found by the marker", async () => {
    const value = `launch ${process.pid} ü`;
    const lines = [
      "setsid sleep 600 &",
      "nohup sleep 600 &",
      "(trap '' HUP; sleep 600 &)",
      "echo $$; exec sleep 600",
    ];
    const shell = start({ args: ["-c", lines.join("\n")], env: { AO_LAUNCH_ID: value } });
    const root = await identityOf(await printedPid(shell));
    const family = () => table.family(root, { name: "AO_LAUNCH_ID", value });
    const commands = async () =>
      (await family()).map(({ pid }) => readFileSync(`/proc/${pid}/comm`, "utf8").trim());
    await expect.poll(commands).toEqual(["sleep", "sleep", "sleep", "sleep"]);
    const before = await family();
    process.kill(root.pid, "SIGKILL");
    await expect.poll(async () => (await family()).length).toBe(3);
    for (const identity of before) await table.signal(identity, "SIGKILL");
    await expect.poll(family).toEqual([]);
  });

  test("who stands in a folder is found after its removal too", async () => {
    const base = tempDir();
    const folder = join(base, "app-1");
    mkdirSync(folder);
    const child = start({ args: ["-c", "echo $$; exec sleep 600"], cwd: folder });
    const pid = await printedPid(child);
    await identityOf(pid);
    expect((await table.usersOf(base)).map((user) => user.pid)).toEqual([pid]);
    rmdirSync(folder);
    expect(readlinkSync(`/proc/${pid}/cwd`)).toBe(`${folder} (deleted)`);
    expect((await table.usersOf(folder)).map((user) => user.pid)).toEqual([pid]);
  });

  test("five hundred identities are answered in one look", async () => {
    const identity = await identityOf(start({ args: ["-c", "exec sleep 600"] }).pid);
    const identities = Array.from({ length: 500 }, (_, index) => ({
      ...identity,
      startTime: index % 2 === 0 ? identity.startTime : "1",
    }));
    const kinds = (await table.look(identities)).map(({ kind }) => kind);
    expect(kinds).toEqual(identities.map((_, index) => (index % 2 === 0 ? "alive" : "dead")));
  });
});
