import { Command } from "commander";
import type { OpenAo } from "../src/compose.ts";
import { beginInvocation, type CommonOptions, type Invocation } from "./invocation.ts";
import type { Io } from "./io.ts";
import { whileWriting } from "./output-failure.ts";
import { fromCommander } from "./report-error.ts";

export interface CommandText {
  /** Name and arguments as commander writes them: `kill <session...>`. */
  readonly usage: string;
  /** One line, imperative, no full stop. */
  readonly purpose: string;
  /** A command line and what it does; two of them. */
  readonly examples: readonly (readonly [command: string, does: string])[];
  /** More that a person must know, one paragraph. */
  readonly more?: string;
}

/** A command's work. Its number is the exit code, nothing means 0. */
export type Action<Args extends readonly unknown[]> = (
  invocation: Invocation,
  ...args: Args
) => Promise<number | undefined>;

/** What a command file gets to build its command with. */
export interface Host {
  /** A command that prints like all the others; add options and `action` to it. */
  command(text: CommandText): Command;
  /** Wraps a command's work for commander: opens an invocation, closes it, keeps the exit code. */
  action<Args extends readonly unknown[]>(work: Action<Args>): (...args: unknown[]) => Promise<void>;
  /** All commands, for completion. */
  allCommands(): Promise<Command>;
}

export interface HostOptions {
  readonly root: Command;
  readonly io: Io;
  readonly openAo: OpenAo;
  readonly agentArgs: readonly string[];
  readonly onExitCode: (code: number) => void;
  readonly allCommands: () => Promise<Command>;
}

function exampleText({ examples, more }: CommandText): string {
  const lines = examples.map(([command, does]) => `  ${command}\n      ${does}`);
  return `${more ? `\n${more}\n` : ""}\nExamples:\n${lines.join("\n")}`;
}

function namesOf(command: Command): readonly string[] {
  return command.parent === null ? [command.name()] : [...namesOf(command.parent), command.name()];
}

/** As it was typed, for others to see: flags and free text may be private, what it is about is not. */
function commandText(command: Command): string {
  const [first] = command.processedArgs.flat(1);
  return [...namesOf(command), ...(typeof first === "string" ? [first] : [])].join(" ");
}

/** Builds commands that share streams, flags and error handling. */
export function commandHost(options: HostOptions): Host {
  return {
    command(text) {
      const [name = "", ...args] = text.usage.split(" ");
      const command = new Command(name).copyInheritedSettings(options.root).description(text.purpose);
      if (args.length > 0) command.arguments(args.join(" "));
      command.exitOverride((ended) => {
        throw ended.exitCode === 0 ? ended : fromCommander(ended, namesOf(command).join(" "));
      });
      return command.addHelpText("after", exampleText(text));
    },
    action<Args extends readonly unknown[]>(work: Action<Args>) {
      return async (...args: unknown[]) => {
        const command = args.at(-1) as Command;
        const invocation = beginInvocation({
          io: options.io,
          openAo: options.openAo,
          options: command.optsWithGlobals<CommonOptions>(),
          agentArgs: options.agentArgs,
          command: commandText(command),
        });
        try {
          const { deed } = invocation;
          const code = await whileWriting({ stdout: options.io.stdout, deed }, () =>
            work(invocation, ...(args.slice(0, -1) as unknown as Args)),
          );
          options.onExitCode(code ?? 0);
        } finally {
          invocation.close();
        }
      };
    },
    allCommands: options.allCommands,
  };
}
