import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dataLayout } from "../../../../domain/data-layout.ts";
import { formatHookEvent, MAX_HOOK_BODY_BYTES } from "../../../../domain/hook-event.ts";
import { parseLaunchId, parseSessionId } from "../../../../domain/ids.ts";
import type { HookBodies, HookName } from "../hook-body.ts";

/** Tells `ao` what happens. Never throws and never waits: reporting must not disturb the work. */
export type HookReporter = <Name extends HookName>(name: Name, body: HookBodies[Name]) => void;

type Environment = Readonly<Record<string, string | undefined>>;

function quietly(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

/** Makes one folder level each, so that a data directory that was removed does not come back. */
function makeFolders(inbox: string): void {
  for (const folder of [inbox, join(inbox, "tmp"), join(inbox, "new")]) {
    quietly(() => mkdirSync(folder, { mode: 0o700 }));
  }
}

function deliver(inbox: string, fileName: string, content: string): void {
  const [tmp, ready] = [join(inbox, "tmp", fileName), join(inbox, "new", fileName)];
  makeFolders(inbox);
  const delivered = quietly(() => {
    writeFileSync(tmp, content, { mode: 0o600, flag: "wx" });
    renameSync(tmp, ready);
  });
  if (!delivered) quietly(() => rmSync(tmp, { force: true }));
}

function pad(count: number, digits: number): string {
  return String(count).padStart(digits, "0");
}

/** File names and times of one process's events, which grow also when the clock is set back. */
function eventClock(): () => { readonly fileName: string; readonly timeMs: number } {
  let sequence = 0;
  let timeMs = 0;
  return () => {
    sequence += 1;
    timeMs = Math.max(timeMs, Date.now());
    return { fileName: [pad(timeMs, 15), process.pid, pad(sequence, 9)].join("-"), timeMs };
  };
}

/** A text too large for an event is left out: that something was said is worth more than its text. */
function bodyJson(agentSessionId: string, body: object): string {
  const json = JSON.stringify({ session_id: agentSessionId, ...body });
  const fits = Buffer.byteLength(json) <= MAX_HOOK_BODY_BYTES;
  if (fits) return json;
  const large = "text" in body ? { text: null } : { prompt: null };
  return JSON.stringify({ session_id: agentSessionId, ...body, ...large });
}

/**
 * Reports into the inbox of the data directory, one file an event, as the core's hook format says.
 *
 * Outside of a session, that is without `AO_SESSION_ID`, `AO_LAUNCH_ID` and `AO_DATA_DIR`, it does nothing.
 */
export function hookReporter(env: Environment, agentSessionId: string): HookReporter {
  const sessionId = parseSessionId(env["AO_SESSION_ID"] ?? "");
  const launchId = parseLaunchId(env["AO_LAUNCH_ID"] ?? "");
  const dataDir = env["AO_DATA_DIR"];
  if (!(sessionId && launchId && dataDir)) return () => undefined;
  const next = eventClock();
  return (name, body) => {
    const { fileName, timeMs } = next();
    const what = { agent: "embedded", event: name, atMs: timeMs, body: bodyJson(agentSessionId, body) };
    deliver(dataLayout(dataDir).inbox, fileName, formatHookEvent({ sessionId, launchId, ...what }));
  };
}
