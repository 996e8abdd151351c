import type { Command } from "commander";
import { runDemo } from "../demo/run-demo.ts";
import { switchOption } from "../flags.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";

async function demo(invocation: Invocation, { keep }: { readonly keep: boolean }): Promise<undefined> {
  const { io, paint } = invocation;
  invocation.hold();
  await runDemo({ io, paint, keep, isInterrupted: invocation.isInterrupted });
  return undefined;
}

/** `ao demo`. */
export function demoCommand(host: Host): Command {
  return host
    .command({
      usage: "demo",
      purpose: "Play the main job on a throwaway repository with the embedded agent, in under 30 s",
      examples: [
        ["ao demo", "three sessions from spawn to cleanup; nothing of it stays"],
        ["ao demo --keep", "the same, and leaves the repository and its sessions to play with"],
      ],
    })
    .addOption(switchOption("--keep", "leave the repository and live sessions to play with"))
    .action(host.action(demo));
}
