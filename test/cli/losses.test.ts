import { delimiter, dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemProcessTable } from "../../src/adapters/processes/system-process-table.ts";
import { type Ao, aoSandbox } from "../support/ao.ts";
import { cancelSchema, reconcileSchema, sendSchema, showSchema } from "../support/json-schemas.ts";
import { fakeTmux, isRunning } from "../support/tmux-server.ts";

const PROCESSES = systemProcessTable();
/** What is said of a session whose agent is held to live. */
const LIVE = ["spawning", "working", "idle", "needs_input"];
const OVER = ["killed", "cleanup", "errored", "terminated", "done"];
const PATIENCE = { timeout: 20_000, interval: 50 };

const stored = async (ao: Ao, id: string) => (await ao.json(showSchema, ["show", id, "--stored"])).status;
const shown = async (ao: Ao, id: string) => (await ao.json(showSchema, ["show", id])).status;
const pidOf = (ao: Ao, what: "pane_pid" | "pid") => Number(ao.tmux("list-panes", "-a", "-F", `#{${what}}`));

/**
 * So many ticks, with the status that each leaves. One that could not look says so in its exit, which is no news here.
 */
async function ticks(ao: Ao, id: string, count: number, env: Record<string, string> = {}) {
  const statuses: string[] = [];
  for (let tick = 1; tick <= count; tick++) {
    const { stdout } = await ao.run(["reconcile", "--json"], { env });
    expect(reconcileSchema.parse(JSON.parse(stdout)).orphans).toEqual([]);
    statuses.push(await stored(ao, id));
  }
  return statuses;
}

async function aRestingSession() {
  const ao = aoSandbox();
  const id = await ao.spawn(ao.repository(), ["--prompt", "say ready"]);
  await ao.until(id, "idle");
  return { ao, id };
}

/** Ends a process as the system does when memory runs out, and waits until it is gone. */
async function kill9(pid: number): Promise<void> {
  process.kill(pid, "SIGKILL");
  await expect.poll(() => isRunning(pid), PATIENCE).toBe(false);
}

/** The `PATH` of a sandbox with a script before the true tmux, which is `$real` in it. */
function withTmux({ env }: Ao, script: string): { readonly PATH: string } {
  return { PATH: `${dirname(fakeTmux(script))}${delimiter}${env["PATH"]}` };
}

/** Fails each third call, and says nothing of it. */
const everyThird = (file: string) => `
count=$(($(cat '${file}' 2>/dev/null || echo 0) + 1)); echo $count >'${file}'
if [ $((count % 3)) -eq 0 ]; then exit 1; fi
exec "$real" "$@"`;

describe("after three ticks nobody holds for alive", () => {
  test("an agent that was killed by kill -9", async () => {
    const { ao, id } = await aRestingSession();
    await kill9(pidOf(ao, "pane_pid"));
    expect((await ticks(ao, id, 3)).at(-1)).toBe("stuck");
    expect(LIVE).not.toContain(await shown(ao, id));
  });

  test("an agent whose tmux server was killed by kill -9", async () => {
    const { ao, id } = await aRestingSession();
    const agent = pidOf(ao, "pane_pid");
    await kill9(pidOf(ao, "pid"));
    await expect.poll(() => isRunning(agent), PATIENCE).toBe(false);
    // It may have told that it leaves, or not have had the time to.
    expect(["killed", "stuck"]).toContain((await ticks(ao, id, 3)).at(-1));
    expect(LIVE).not.toContain(await shown(ao, id));
  });

  test("an agent that was killed while tmux fails one call in three", async () => {
    const { ao, id } = await aRestingSession();
    const env = withTmux(ao, everyThird(join(ao.root, "calls")));
    await kill9(pidOf(ao, "pane_pid"));
    const statuses = await ticks(ao, id, 3, env);
    expect(LIVE).not.toContain(statuses.at(-1));
  });
});

test("an agent that was killed while tmux hangs is not called dead until tmux answers, nor alive after that", async () => {
  const { ao, id } = await aRestingSession();
  await kill9(pidOf(ao, "pane_pid"));
  const hangsOnce = `mkdir '${join(ao.root, "hung")}' 2>/dev/null && exec sleep 600\nexit 1`;
  const [unseen] = await ticks(ao, id, 1, withTmux(ao, hangsOnce));
  expect(unseen).toBe("detecting");
  expect(LIVE).not.toContain((await ticks(ao, id, 3)).at(-1));
  expect(LIVE).not.toContain(await shown(ao, id));
}, 60_000);

describe("an agent that lives is never called dead", () => {
  test("though its tmux server was killed by kill -9", async () => {
    const ao = aoSandbox();
    const deaf = ["--agent", "shell", "--", "/bin/sh", "-c", "trap '' HUP; while :; do sleep 0.2; done"];
    const id = await ao.spawn(ao.repository(), deaf);
    const agent = await PROCESSES.identify(pidOf(ao, "pane_pid"));
    onTestFinished(async () => void (agent && (await PROCESSES.signal(agent, "SIGKILL"))));
    await kill9(pidOf(ao, "pid"));
    const statuses = await ticks(ao, id, 4);
    expect(agent && isRunning(agent.pid)).toBe(true);
    expect(statuses.filter((status) => OVER.includes(status))).toEqual([]);
    expect(statuses.at(-1)).toBe("stuck");
  });

  test("while it is stopped, and takes messages again when it goes on", async () => {
    const { ao, id } = await aRestingSession();
    const agent = pidOf(ao, "pane_pid");
    process.kill(agent, "SIGSTOP");
    expect(await ticks(ao, id, 3)).toEqual(["idle", "idle", "idle"]);
    process.kill(agent, "SIGCONT");
    expect(await ao.json(sendSchema, ["send", id, "say on"])).toMatchObject({ state: "delivered" });
  });

  test("while it is stopped at its work, and its turn goes on with it", async () => {
    const { ao, id } = await aRestingSession();
    await ao.json(sendSchema, ["send", id, "wait 60"]);
    const agent = pidOf(ao, "pane_pid");
    process.kill(agent, "SIGSTOP");
    expect(await ticks(ao, id, 3)).toEqual(["working", "working", "working"]);
    process.kill(agent, "SIGCONT");
    expect(await ao.json(cancelSchema, ["cancel", id])).toMatchObject({
      ...{ state: "settled", outcome: "canceled", providerConfirmed: true },
    });
  });

  test("while tmux fails one call in three, and all is known again when it does not", async () => {
    const { ao, id } = await aRestingSession();
    const env = withTmux(ao, everyThird(join(ao.root, "calls")));
    const statuses = await ticks(ao, id, 6, env);
    expect(statuses.filter((status) => OVER.includes(status))).toEqual([]);
    expect(LIVE).toContain((await ticks(ao, id, 1)).at(-1));
    expect(LIVE).toContain(await shown(ao, id));
  });

  test("while tmux hangs, and all is known again when it does not", async () => {
    const { ao, id } = await aRestingSession();
    const statuses = await ticks(ao, id, 3, withTmux(ao, "exec sleep 600"));
    expect(statuses).toEqual(["detecting", "detecting", "stuck"]);
    expect(LIVE).toContain((await ticks(ao, id, 1)).at(-1));
    expect(LIVE).toContain(await shown(ao, id));
    // Each of its calls takes five seconds to be given up.
  }, 150_000);
});
