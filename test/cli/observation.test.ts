import { describe, expect, test } from "vitest";
import { type Ao, aoSandbox } from "../support/ao.ts";
import { sendSchema, showSchema } from "../support/json-schemas.ts";

const stored = (ao: Ao, id: string) => ao.json(showSchema, ["show", id, "--stored"]);

/** Ends the only agent as the system does when memory runs out, and waits until it is gone. */
async function killAgent(ao: Ao): Promise<void> {
  const pid = Number(ao.tmux("list-panes", "-a", "-F", "#{pane_pid}"));
  process.kill(pid, "SIGKILL");
  await expect.poll(() => ao.tmux("list-panes", "-a", "-F", "#{pane_dead}")).toBe("1");
}

describe("an agent that was killed by kill -9", () => {
  test("stays in doubt that grows, though receipts of earlier messages wait in the inbox", async () => {
    const ao = aoSandbox();
    const id = await ao.spawn(ao.repository(), ["--prompt", "hello"]);
    await ao.until(id, "idle");
    expect(await ao.json(sendSchema, ["send", id, "more"])).toMatchObject({ state: "delivered" });
    await ao.until(id, "idle");
    await killAgent(ao);

    const doubts = [];
    let { revision } = (await stored(ao, id)).lifecycle;
    for (let look = 1; look <= 3; look++) {
      expect(await ao.error(["send", id, "are you there"])).toMatchObject({
        code: "not_running",
        exitCode: 4,
      });
      const { status, lifecycle } = await stored(ao, id);
      expect(lifecycle.revision).toBe(++revision);
      doubts.push([status, lifecycle.detecting?.attempts, lifecycle.detecting?.startedAt]);
    }
    const startedAt = doubts[0]?.[2];
    expect(startedAt).toBeDefined();
    expect(doubts).toEqual([
      ["detecting", 1, startedAt],
      ["detecting", 2, startedAt],
      ["stuck", 3, startedAt],
    ]);
  });

  test("is shown with no time of its end, and the same each time, while nothing is written", async () => {
    const ao = aoSandbox();
    const id = await ao.spawn(ao.repository(), ["--agent", "shell", "--", "sleep", "60"]);
    const before = await stored(ao, id);
    await killAgent(ao);
    const first = await ao.json(showSchema, ["show", id]);
    expect(first).toMatchObject({ status: "killed", terminatedAt: null, updatedAt: before.updatedAt });
    expect(await ao.json(showSchema, ["show", id])).toEqual(first);
    expect(await stored(ao, id)).toEqual(before);
  });
});
