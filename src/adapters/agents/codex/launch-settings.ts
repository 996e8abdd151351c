import { createHash } from "node:crypto";
import { shellQuoted } from "../../../domain/shell-quoted.ts";
import { HOOK_EVENTS } from "./interpret.ts";

type HookName = (typeof HOOK_EVENTS)[number];

/** A hook that takes longer is ended by codex; ours takes milliseconds. Of an `Interrupt` it takes no more than 3 s. */
const HOOK_SECONDS: Readonly<Partial<Record<HookName, number>>> = { Interrupt: 3 };
const ANY_HOOK_SECONDS = 10;

/** Text as TOML has it: what JSON escapes means the same there. */
function toml(text: string): string {
  return JSON.stringify(text).replaceAll("\u007f", "\\u007f");
}

/** The name of an event in the key under which trust in its hook is kept. */
function keyOf(event: HookName): string {
  return event.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
}

interface Hook {
  readonly event: HookName;
  readonly command: string;
  readonly seconds: number;
}

function hookOf(scriptPath: string, event: HookName): Hook {
  const command = `/bin/sh ${shellQuoted(scriptPath)} codex ${event}`;
  return { event, command, seconds: HOOK_SECONDS[event] ?? ANY_HOOK_SECONDS };
}

/** The digest by which codex knows a hook again that a person has trusted (0.171.0; its discovery.rs says how). */
function digestOf({ event, command, seconds }: Hook): string {
  const handler = { async: false, command, timeout: seconds, type: "command" };
  const identity = JSON.stringify({ event_name: keyOf(event), hooks: [handler] });
  return `sha256:${createHash("sha256").update(identity).digest("hex")}`;
}

/**
 * Arguments that give codex settings of one launch beside the user's own: hooks that run the script, which alone are
 * trusted, trust in the workspace, and no question about updates (0.171.0). Nothing of the user's is changed.
 */
export function launchSettings(scriptPath: string, workspacePath: string): readonly string[] {
  const hooks = HOOK_EVENTS.map((event) => hookOf(scriptPath, event));
  const state = hooks.map((hook) => {
    const key = `/<session-flags>/config.toml:${keyOf(hook.event)}:0:0`;
    return `${toml(key)}={trusted_hash=${toml(digestOf(hook))}}`;
  });
  return [
    "check_for_update_on_startup=false",
    `projects={${toml(workspacePath)}={trust_level="trusted"}}`,
    ...hooks.map(({ event, command, seconds }) => {
      return `hooks.${event}=[{hooks=[{type="command",command=${toml(command)},timeout=${seconds}}]}]`;
    }),
    `hooks.state={${state.join(",")}}`,
  ].flatMap((setting) => ["-c", setting]);
}
