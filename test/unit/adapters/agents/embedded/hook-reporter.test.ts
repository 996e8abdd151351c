import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { interpretEmbedded } from "../../../../../src/adapters/agents/embedded/interpret.ts";
import { hookReporter } from "../../../../../src/adapters/agents/embedded/program/hook-reporter.ts";
import { tempDir } from "../../../../support/temp-dir.ts";
import { hookEvents } from "./hook-events.ts";

const ID = "5f0c1f6e-0d5b-4b8e-9c8e-2f4f7a8b9c0d";

function inSession(dataDir: string) {
  return hookReporter({ AO_SESSION_ID: "app-7", AO_LAUNCH_ID: "l-1", AO_DATA_DIR: dataDir }, ID);
}

describe("a hook report", () => {
  test("is one file with its session, launch, agent, event and time", () => {
    const dataDir = tempDir();
    inSession(dataDir)("waiting", { question: "why?" });
    expect(hookEvents(dataDir)).toEqual([
      {
        sessionId: "app-7",
        launchId: "l-1",
        agent: "embedded",
        event: "waiting",
        atMs: expect.any(Number),
        body: JSON.stringify({ session_id: ID, question: "why?" }),
      },
    ]);
    expect(readdirSync(join(dataDir, "inbox", "tmp"))).toEqual([]);
  });

  test("is readable by its user alone", () => {
    const dataDir = tempDir();
    inSession(dataDir)("waiting", { question: "why?" });
    const inbox = join(dataDir, "inbox", "new");
    const [name = ""] = readdirSync(inbox);
    expect(statSync(join(inbox, name)).mode & 0o777).toBe(0o600);
    expect(statSync(inbox).mode & 0o777).toBe(0o700);
  });

  test("stands behind the one before it, also when the clock was set back", () => {
    const dataDir = tempDir();
    const report = inSession(dataDir);
    const now = vi.spyOn(Date, "now");
    for (const timeMs of [2_000_000_000_000, 1_000_000_000_000, 1_000_000_000_000]) {
      now.mockReturnValue(timeMs);
      report("waiting", { question: String(timeMs) });
    }
    now.mockRestore();
    const events = hookEvents(dataDir);
    expect(events.map(({ atMs }) => atMs)).toEqual([2e12, 2e12, 2e12]);
    expect(JSON.parse(events[0]?.body ?? "")).toMatchObject({ question: "2000000000000" });
  });

  test("leaves a prompt out that is too large for an event, and still tells of it", () => {
    const dataDir = tempDir();
    inSession(dataDir)("submit", {
      prompt: "x".repeat(8 * 1024 * 1024),
      place: { position: 1, after: null, atMs: 1 },
    });
    const [event] = hookEvents(dataDir);
    expect(event && interpretEmbedded({ ...event, id: "1" })).toMatchObject({
      activity: "active",
    });
  });

  test.each([
    ["a session id", { AO_LAUNCH_ID: "l-1" }],
    ["a launch id", { AO_SESSION_ID: "app-7" }],
    ["an honest session id", { AO_SESSION_ID: "app-7\nevent x", AO_LAUNCH_ID: "l-1" }],
  ])("is not made without %s", (_name, env) => {
    const dataDir = tempDir();
    hookReporter({ ...env, AO_DATA_DIR: dataDir }, ID)("waiting", { question: "why?" });
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test("does not bring a removed data directory back", () => {
    const dataDir = join(tempDir(), "gone");
    inSession(dataDir)("waiting", { question: "why?" });
    expect(existsSync(dataDir)).toBe(false);
  });

  test("that cannot be written is silent", () => {
    const dataDir = tempDir();
    mkdirSync(join(dataDir, "inbox"));
    writeFileSync(join(dataDir, "inbox", "tmp"), "a file where a folder should be");
    expect(() => inSession(dataDir)("waiting", { question: "why?" })).not.toThrow();
  });
});
