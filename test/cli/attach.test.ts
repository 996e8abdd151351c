import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Ao, aoSandbox } from "../support/ao.ts";
import { showSchema } from "../support/json-schemas.ts";
import { aTerminal } from "../support/terminal.ts";

const AO = join(import.meta.dirname, "..", "..", "dist", "ao.js");
const SHELL = ["--agent", "shell", "--", "sh"];

/** The sessions that clients of `ao`'s server look at. */
const watched = (ao: Ao) => ao.tmux("list-clients", "-F", "#{session_name}");

describe("attach", () => {
  test("without a terminal is exit 2 with the command to run in one", async () => {
    const ao = aoSandbox();
    const id = await ao.spawn(ao.repository(), SHELL);
    const { runtime } = await ao.json(showSchema, ["show", id]);
    const { exitCode, stdout, stderr } = await ao.run(["attach", id]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr.replace("tmux -u ", "tmux ")).toContain(
      `tmux -S ${runtime?.socketPath} attach -t '${runtime?.handle}'`,
    );
  });

  test("inside another tmux shows the session and returns after a detach", async () => {
    const ao = aoSandbox();
    const id = await ao.spawn(ao.repository(), SHELL);
    const terminal = aTerminal(ao);
    terminal.type(`'${process.execPath}' '${AO}' attach ${id}; echo "came back: $?"`);
    await expect.poll(() => watched(ao), { timeout: 10_000 }).toBe(id);
    ao.tmux("detach-client", "-s", id);
    await expect.poll(() => terminal.screen(), { timeout: 10_000 }).toContain("came back: 0");
  });

  test("without a locale shows what is not ASCII, and how the agent ended", async () => {
    const ao = aoSandbox();
    const script = "echo 'grüße 日本'; read go; exit 3";
    const id = await ao.spawn(ao.repository(), ["--agent", "shell", "--", "sh", "-c", script]);
    const terminal = aTerminal(ao);
    terminal.type(`env -u LANG -u LC_CTYPE LC_ALL=C '${process.execPath}' '${AO}' attach ${id}`);
    await expect.poll(() => terminal.screen(), { timeout: 10_000 }).toContain("grüße 日本");
    terminal.type("");
    const shown = () => {
      ao.tmux("run-shell", ":");
      return terminal.screen();
    };
    await expect
      .poll(shown, { timeout: 10_000 })
      .toContain("ao: the agent has ended with status 3; Ctrl-b d leaves");
  });

  test("on a dumb terminal is exit 2 in words of ao", async () => {
    const ao = aoSandbox();
    const id = await ao.spawn(ao.repository(), SHELL);
    const terminal = aTerminal(ao);
    terminal.type(`TERM=dumb '${process.execPath}' '${AO}' attach ${id}; echo "came back: $?"`);
    await expect.poll(() => terminal.screen(), { timeout: 10_000 }).toContain("came back: 2");
    expect(terminal.screen()).toContain("TERM=dumb");
  });

  test("inside the same server moves the client to the other session", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const [first, second] = [await ao.spawn(cwd, SHELL), await ao.spawn(cwd, SHELL)];
    const terminal = aTerminal(ao);
    terminal.type(`'${process.execPath}' '${AO}' attach ${first}`);
    await expect.poll(() => watched(ao), { timeout: 10_000 }).toBe(first);
    terminal.type(`'${process.execPath}' '${AO}' attach ${second}; echo "moved: $?"`);
    await expect.poll(() => watched(ao), { timeout: 10_000 }).toBe(second);
  });

  test("to a session that is over says how to get it back", async () => {
    const ao = aoSandbox();
    const id = await ao.spawn(ao.repository(), SHELL);
    await ao.run(["kill", id]);
    const { exitCode, stderr } = await ao.run(["attach", id]);
    expect(exitCode).toBe(4);
    expect(stderr).toContain(`hint: ao restore ${id}`);
  });

  test("spawn --attach shows the new session at once", async () => {
    const ao = aoSandbox();
    const cwd = ao.repository();
    const terminal = aTerminal(ao);
    terminal.type(`cd '${cwd}' && '${process.execPath}' '${AO}' spawn --attach --agent shell -- sh`);
    await expect.poll(() => watched(ao), { timeout: 10_000 }).toBe("shop-1");
  });
});
