import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HookEvent } from "../../../../../src/domain/facts.ts";

const HEAD =
  /^ao-hook 1\nsession (?<sessionId>.+)\nlaunch (?<launchId>.+)\nagent (?<agent>.+)\nevent (?<event>.+)\ntime (?<time>\d+)$/;

function parseEvent(text: string): Omit<HookEvent, "id"> {
  const headEnd = text.indexOf("\n\n");
  const { sessionId, launchId, agent, event, time } = HEAD.exec(text.slice(0, headEnd))?.groups ?? {};
  if (!(sessionId && launchId && agent && event)) throw new Error(`malformed hook event: ${text}`);
  return { sessionId, launchId, agent, event, atMs: Number(time), body: text.slice(headEnd + 2) };
}

/** The hook events that wait in a data directory, in the order of their names; one malformed is an error. */
export function hookEvents(dataDir: string): readonly Omit<HookEvent, "id">[] {
  const inbox = join(dataDir, "inbox", "new");
  if (!existsSync(inbox)) return [];
  return readdirSync(inbox)
    .sort()
    .map((name) => parseEvent(readFileSync(join(inbox, name), "utf8")));
}
