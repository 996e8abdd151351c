import { Argument, type Command } from "commander";
import { completionScript, SHELLS, type Shell } from "../completion-script.ts";
import type { Host } from "../host.ts";
import type { Invocation } from "../invocation.ts";

async function completion({ io }: Invocation, shell: Shell): Promise<undefined> {
  io.stdout.write(completionScript(shell));
  return undefined;
}

/** `ao completion`. */
export function completionCommand(host: Host): Command {
  return host
    .command({
      usage: "completion",
      purpose: "Print a completion script for a shell, with live session ids",
      examples: [
        ["source <(ao completion bash)", "in ~/.bashrc; zsh the same way in ~/.zshrc"],
        ["ao completion fish > ~/.config/fish/completions/ao.fish", "for fish"],
      ],
    })
    .addArgument(new Argument("<shell>", "which shell").choices([...SHELLS]))
    .action(host.action(completion));
}
