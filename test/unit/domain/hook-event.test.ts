import { expect, test } from "vitest";
import { formatHookEvent, HOOK_HEADERS } from "../../../src/domain/hook-event.ts";
import { HOOK_SCRIPT } from "../../../src/domain/hook-script.ts";
import { launchId, sessionId } from "../../support/builders.ts";

test("the file of an event has its headers in their order, a blank line and the body as it came", () => {
  const ids = { sessionId: sessionId("app-7"), launchId: launchId("l-1") };
  const event = { ...ids, agent: "codex", event: "Stop", atMs: 7, body: '{"a":1}\n\n' };
  expect(formatHookEvent(event)).toBe(
    'ao-hook 1\nsession app-7\nlaunch l-1\nagent codex\nevent Stop\ntime 7\n\n{"a":1}\n\n',
  );
});

test("the hook script writes the same head in place, with its end for the time", () => {
  const headers = HOOK_HEADERS.slice(0, -1).map((name) => `${name} %s\\n`);
  expect(HOOK_SCRIPT).toContain(`printf 'ao-hook 2\\n${headers.join("")}end %s\\n\\n' "$AO_SESSION_ID"`);
});
