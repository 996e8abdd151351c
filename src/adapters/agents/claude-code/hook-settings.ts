import type { PermissionMode } from "../../../domain/session.ts";
import { shellQuoted } from "../../../domain/shell-quoted.ts";
import { HOOK_EVENTS } from "./interpret.ts";

/** A hook that takes longer is ended by claude; ours takes milliseconds. */
const HOOK_SECONDS = 10;

/** A start is told by claude's own files, as its first screen is drawn after that hook; another beginning is not. */
const MATCHERS: Readonly<Partial<Record<string, string>>> = { SessionStart: "clear" };

/** Settings of one launch beside the user's own: hooks that run the script, and nothing of the user's changed. */
export function launchSettings(scriptPath: string, permissions: PermissionMode): string {
  const hooks = HOOK_EVENTS.map((event) => {
    const command = `/bin/sh ${shellQuoted(scriptPath)} claude-code ${event}`;
    const matcher = MATCHERS[event];
    const only = matcher === undefined ? {} : { matcher };
    return [event, [{ ...only, hooks: [{ type: "command", command, timeout: HOOK_SECONDS }] }]] as const;
  });
  return `${JSON.stringify({
    hooks: Object.fromEntries(hooks),
    // It was chosen by name at the spawn; the dialog that asks again would wait for a person (2.1.197).
    ...(permissions === "bypass" && { skipDangerousModePermissionPrompt: true }),
  })}\n`;
}
