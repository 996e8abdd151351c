import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HookEvent } from "../../../../../src/domain/facts.ts";

const FOLDER = join(import.meta.dirname, "../../../../fixtures/codex-0.171.0");

/** The conversation and the workspace of what was recorded of codex 0.171.0. Long texts are cut there. */
export const CONVERSATION = "01a22f05-2772-7560-b098-0a1b2c3d4e5f";
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
  return { id: "1", sessionId: "app-1", launchId: "l-1", agent: "codex", event, atMs: 1_000, body };
}

/** Lays a log of codex where it keeps them, as one that began on a day of 2026. */
export function layRollout(
  folder: string,
  { id = CONVERSATION, day = "11/30", content = recorded("rollout.jsonl") } = {},
): string {
  const dir = join(folder, "sessions", "2026", day);
  const path = join(dir, `rollout-2026-${day.replace("/", "-")}T10-00-00-${id}.jsonl`);
  mkdirSync(dir, { recursive: true });
  writeFileSync(path, content);
  return path;
}
