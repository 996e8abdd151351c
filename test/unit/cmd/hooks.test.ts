import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { leaveHookEvent } from "../../../cmd/hooks.ts";
import { memoryInbox } from "../../../src/adapters/memory/inbox.ts";

const ENV = { AO_SESSION_ID: "app-7", AO_LAUNCH_ID: "launch-1", AO_DATA_DIR: "/data" };

function aHook(env: Readonly<Record<string, string>> = ENV) {
  const inbox = memoryInbox();
  const run = async (args: readonly string[], input: readonly (string | Buffer)[]) => {
    const io = { env, stdin: Readable.from(input) };
    await leaveHookEvent({ args, io, openInbox: () => inbox });
    return inbox.pending();
  };
  return { run };
}

describe("ao hooks", () => {
  test("leaves an event with what stdin brings, also when a letter is cut in two", async () => {
    const bytes = Buffer.from('{"text":"é"}');
    const pieces = [bytes.subarray(0, 10), bytes.subarray(10)];
    expect(await aHook().run(["codex", "Stop"], pieces)).toEqual([
      {
        ...{ id: expect.any(String), sessionId: "app-7", launchId: "launch-1" },
        ...{ agent: "codex", event: "Stop", atMs: expect.any(Number), body: '{"text":"é"}' },
      },
    ]);
  });

  test("leaves an event without its body when that is too large", async () => {
    const piece = "x".repeat(1024 * 1024);
    const events = await aHook().run(
      ["codex", "Stop"],
      Array.from({ length: 9 }, () => piece),
    );
    expect(events.map(({ body }) => body)).toEqual([""]);
  });

  test.each(Object.keys(ENV))("does nothing without %s", async (name) => {
    expect(await aHook({ ...ENV, [name]: "" }).run(["codex", "Stop"], [])).toEqual([]);
  });

  test.each([[[]], [["codex"]], [["codex", "a b"]], [["", "Stop"]]])("takes %j in silence", async (args) => {
    expect(await aHook().run(args, ["{}"])).toEqual([]);
  });

  test("a data directory that cannot be used costs the agent nothing", async () => {
    const openInbox = () => {
      throw new Error("broken");
    };
    const io = { env: ENV, stdin: Readable.from([]) };
    await expect(leaveHookEvent({ args: ["codex", "Stop"], io, openInbox })).resolves.toBeUndefined();
  });
});
