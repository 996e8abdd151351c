import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HookEvent } from "../../../../../src/domain/facts.ts";

const FOLDER = join(import.meta.dirname, "../../../../fixtures/claude-code-2.1.197");

/** The conversation and the workspace of what was recorded of claude 2.1.197. */
export const CONVERSATION = "7a3e5d1c-2b4f-4c6d-8e9f-0a1b2c3d4e5f";
export const WORKSPACE = "/home/dev/shop";

export function recorded(name: string): string {
  return readFileSync(join(FOLDER, name), "utf8");
}

/** The recorded payloads of one hook, oldest first. */
export function payloads(event: string): readonly string[] {
  return readdirSync(join(FOLDER, "hooks"))
    .sort()
    .filter((name) => name.endsWith(`-${event}.json`))
    .map((name) => recorded(join("hooks", name)));
}

export function hookEvent(event: string, body: string): HookEvent {
  return { id: "1", sessionId: "app-1", launchId: "l-1", agent: "claude-code", event, atMs: 1_000, body };
}
