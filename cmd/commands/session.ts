import type { Command } from "commander";
import type { Host } from "../host.ts";
import { attachCommand } from "./attach.ts";
import { cleanupCommand } from "./cleanup.ts";
import { forkCommand } from "./fork.ts";
import { killCommand } from "./kill.ts";
import { listCommand } from "./list.ts";
import { restoreCommand } from "./restore.ts";
import { showCommand } from "./show.ts";

/** `ao session …`: the older spelling of the session commands. */
export function sessionCommand(host: Host): Command {
  const session = host.command({
    usage: "session",
    purpose: "The session commands under their older spelling",
    examples: [
      ["ao session ls --json", "the same as ao list --json"],
      ["ao session kill app-7", "the same as ao kill app-7"],
    ],
  });
  // `status` stays a word of the top level alone.
  session.addCommand(listCommand(host, "ls", ["list"]));
  for (const build of [
    showCommand,
    killCommand,
    restoreCommand,
    forkCommand,
    attachCommand,
    cleanupCommand,
  ]) {
    session.addCommand(build(host));
  }
  return session;
}
