import { Command } from "commander";
import type { OpenAo } from "../src/compose.ts";
import { commandHost, type Host } from "./host.ts";
import type { Io } from "./io.ts";
import { VERSION } from "./version.ts";

interface Entry {
  /** All names it answers to. */
  readonly names: readonly string[];
  /** What follows `--` is for the agent. */
  readonly takesAgentArgs?: boolean;
  /** Loaded only when the command is asked for: a start costs what it uses. */
  readonly load: () => Promise<(host: Host) => Command>;
}

const ENTRIES: readonly Entry[] = [
  {
    names: ["spawn"],
    takesAgentArgs: true,
    load: async () => (await import("./commands/spawn.ts")).spawnCommand,
  },
  {
    names: ["batch-spawn"],
    takesAgentArgs: true,
    load: async () => (await import("./commands/batch-spawn.ts")).batchSpawnCommand,
  },
  { names: ["list", "ls", "status"], load: async () => (await import("./commands/list.ts")).listCommand },
  { names: ["show"], load: async () => (await import("./commands/show.ts")).showCommand },
  { names: ["wait"], load: async () => (await import("./commands/wait.ts")).waitCommand },
  { names: ["send"], load: async () => (await import("./commands/send.ts")).sendCommand },
  { names: ["kill"], load: async () => (await import("./commands/kill.ts")).killCommand },
  { names: ["restore"], load: async () => (await import("./commands/restore.ts")).restoreCommand },
  { names: ["fork"], load: async () => (await import("./commands/fork.ts")).forkCommand },
  { names: ["compare"], load: async () => (await import("./commands/compare.ts")).compareCommand },
  { names: ["cleanup"], load: async () => (await import("./commands/cleanup.ts")).cleanupCommand },
  { names: ["salvage"], load: async () => (await import("./commands/salvage.ts")).salvageCommand },
  { names: ["rewind"], load: async () => (await import("./commands/rewind.ts")).rewindCommand },
  { names: ["reconcile"], load: async () => (await import("./commands/reconcile.ts")).reconcileCommand },
  { names: ["attach"], load: async () => (await import("./commands/attach.ts")).attachCommand },
  { names: ["output"], load: async () => (await import("./commands/output.ts")).outputCommand },
  { names: ["cancel"], load: async () => (await import("./commands/cancel.ts")).cancelCommand },
  { names: ["goal"], load: async () => (await import("./commands/goal.ts")).goalCommand },
  { names: ["issue"], load: async () => (await import("./commands/issue.ts")).issueCommand },
  { names: ["turns"], load: async () => (await import("./commands/turns.ts")).turnsCommand },
  { names: ["events"], load: async () => (await import("./commands/events.ts")).eventsCommand },
  { names: ["transcript"], load: async () => (await import("./commands/transcript.ts")).transcriptCommand },
  { names: ["project"], load: async () => (await import("./commands/project.ts")).projectCommand },
  { names: ["agents"], load: async () => (await import("./commands/agents.ts")).agentsCommand },
  { names: ["config"], load: async () => (await import("./commands/config.ts")).configCommand },
  { names: ["doctor"], load: async () => (await import("./commands/doctor.ts")).doctorCommand },
  { names: ["completion"], load: async () => (await import("./commands/completion.ts")).completionCommand },
  { names: ["__complete"], load: async () => (await import("./commands/complete.ts")).completeCommand },
  { names: ["demo"], load: async () => (await import("./commands/demo.ts")).demoCommand },
  { names: ["session"], load: async () => (await import("./commands/session.ts")).sessionCommand },
];

/** The first word that is no flag; `--config` is the one flag before a command that takes a value. */
function commandWord(argv: readonly string[]): string | undefined {
  return argv.find((word, index) => !word.startsWith("-") && argv[index - 1] !== "--config");
}

/** A command line cut at the first `--` when what follows is for the agent. */
function splitAgentArgs(argv: readonly string[], entry: Entry | undefined) {
  const cut = entry?.takesAgentArgs ? argv.indexOf("--") : -1;
  return cut === -1
    ? { own: argv, agentArgs: [] }
    : { own: argv.slice(0, cut), agentArgs: argv.slice(cut + 1) };
}

function rootCommand(io: Io): Command {
  return new Command("ao")
    .description("Durable sessions for coding agents: one issue, one git worktree, one tmux session")
    .version(VERSION, "-V, --version", "print the version")
    .option("--config <file>", "configuration file (default: looked up, see ao config path --help)")
    .option("--verbose", "print each step as a line on stderr")
    .option("--no-color", "never print colours (default: colours on a terminal)")
    .exitOverride()
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: () => {},
      outputError: () => {},
    });
}

export interface ProgramOptions {
  readonly io: Io;
  readonly openAo: OpenAo;
}

/**
 * Runs one command line and returns its exit code.
 *
 * @throws CommanderError for help that was printed, and for a command line that names no command.
 * @throws AoError usage for a command line that cannot be read, else as the command.
 */
export async function runProgram(argv: readonly string[], { io, openAo }: ProgramOptions): Promise<number> {
  const word = commandWord(argv);
  const wanted = ENTRIES.find((entry) => word !== undefined && entry.names.includes(word));
  const { own, agentArgs } = splitAgentArgs(argv, wanted);
  let exitCode = 0;

  async function build(entries: readonly Entry[]): Promise<Command> {
    const root = rootCommand(io);
    const host = commandHost({
      root,
      io,
      openAo,
      agentArgs,
      onExitCode: (code) => {
        exitCode = code;
      },
      allCommands: () => build(ENTRIES),
    });
    for (const entry of entries) {
      const command = (await entry.load())(host);
      root.addCommand(command, { hidden: entry.names[0] === "__complete" });
    }
    return root;
  }

  const root = await build(wanted ? [wanted] : ENTRIES);
  if (own.length === 0) root.outputHelp();
  else await root.parseAsync([...own], { from: "user" });
  return exitCode;
}
