import { type Command, Option } from "commander";
import { isAoError } from "../../src/domain/errors.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import { deriveStatus } from "../../src/domain/status.ts";
import { observeSessions } from "../../src/lifecycle/observe/observe-sessions.ts";
import { waitForStatus } from "../../src/lifecycle/observe/wait-for-status.ts";
import { resolveSessionId } from "../../src/lifecycle/resolve-session-id.ts";
import { jsonOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import { sessionJson } from "../session-view.ts";
import { DEFAULT_STATUS_WAIT, statusesFlag, statusTimeout } from "../status-flags.ts";

interface WaitFlags {
  readonly for: string;
  readonly timeout?: string;
}

/**
 * Puts what was waited for on record, and with it the files of a turn that has ended: nobody has changed them yet.
 * Where nothing can be written now, the next command that changes something does it.
 */
async function keepSeen(invocation: Invocation, id: SessionId): Promise<void> {
  try {
    const { deps } = await invocation.open("existing");
    await observeSessions(deps, [id]);
  } catch (error) {
    if (!isAoError(error)) throw error;
  }
}

async function wait(invocation: Invocation, name: string, flags: WaitFlags): Promise<undefined> {
  const statuses = statusesFlag("--for", flags.for);
  const timeoutMs = statusTimeout(flags.timeout);
  const ao = await invocation.open("reading");
  const id = resolveSessionId(ao.deps, name);
  const { signal } = invocation.io.interruption;
  const record = await waitForStatus(ao.deps, id, { statuses, timeoutMs, signal });
  await invocation.print(sessionJson(ao, record), () => [`${id} ${deriveStatus(record.lifecycle)}`]);
  await keepSeen(invocation, id);
  return undefined;
}

/** `ao wait`. */
export function waitCommand(host: Host): Command {
  return host
    .command({
      usage: "wait <session>",
      purpose: "Wait until a session shows a status",
      more: [
        "Exit code 1 (timeout) when the time is over, and 4 (not_running) when the session has ended in another status.",
        "An agent without hooks (shell) tells nothing: it counts as idle once its terminal has shown nothing new for a",
        "minute, whatever it does. The files of a turn that has ended are kept before this returns.",
      ].join("\n"),
      examples: [
        ["ao wait app-7", "until its agent rests"],
        ["ao wait app-7 --for needs_input,idle --timeout 1h --json", "until there is something to do for me"],
      ],
    })
    .addOption(new Option("--for <status>", "status to wait for, or several with commas").default("idle"))
    .option("--timeout <duration>", `for how long at most (default: ${DEFAULT_STATUS_WAIT})`)
    .addOption(jsonOption())
    .action(host.action(wait));
}
