import type { Command } from "commander";
import type { Ao } from "../../src/compose.ts";
import { AoError } from "../../src/domain/errors.ts";
import type { SessionId } from "../../src/domain/ids.ts";
import { shellQuoted } from "../../src/domain/shell-quoted.ts";
import { attachCommand as attachCommandOf } from "../../src/lifecycle/attach-command.ts";
import { resolveSessionId } from "../../src/lifecycle/resolve-session-id.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";
import type { Io } from "../io.ts";
import { runInTerminal } from "../run-in-terminal.ts";

function whyNoTerminal({ stdin, stdout, env }: Io): string | undefined {
  if (!stdin.isTTY || !stdout.isTTY) return "standard input and output are not a terminal";
  if (!env["TERM"]) return "TERM is not set";
  return env["TERM"] === "dumb" ? "the terminal is dumb (TERM=dumb)" : undefined;
}

/**
 * Refuses early what could not attach later, before anything is made.
 *
 * @throws AoError usage when there is no terminal to attach.
 */
export function requireTerminal(io: Io, command: string): void {
  const why = whyNoTerminal(io);
  if (why) throw new AoError("usage", `cannot attach: ${why}`, { hint: `in a terminal: ${command}` });
}

/** Shows a session's terminal here until the user detaches, or moves the surrounding client to it. */
export async function attachTo(invocation: Invocation, ao: Ao, id: SessionId): Promise<void> {
  const { kind, argv } = await attachCommandOf(ao.deps, id);
  if (kind === "attach") requireTerminal(invocation.io, argv.map(shellQuoted).join(" "));
  invocation.progress.clear();
  await runInTerminal(argv, invocation.io);
}

async function attach(invocation: Invocation, name: string): Promise<undefined> {
  invocation.hold();
  const ao = await invocation.open("reading");
  await attachTo(invocation, ao, resolveSessionId(ao.deps, name));
  return undefined;
}

/** `ao attach`. */
export function attachCommand(host: Host): Command {
  return host
    .command({
      usage: "attach <session>",
      purpose: "Show a session's terminal here",
      more: "Detach with Ctrl-b d; the agent works on. Inside tmux on the same server it switches the client.",
      examples: [
        ["ao attach app-7", "watch the agent and type to it"],
        ["ao show app-7 --json | jq -r '.runtime.attach | @sh'", "the tmux command behind it"],
      ],
    })
    .action(host.action(attach));
}
