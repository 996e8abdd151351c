import type { Command, Option } from "commander";

export interface Candidate {
  readonly value: string;
  readonly description: string;
}

/** What the word under the cursor may be. */
export type Subject =
  | { readonly kind: "fixed"; readonly candidates: readonly Candidate[] }
  | {
      readonly kind: "session";
      readonly which: "live" | "terminated" | "all";
      /** Names that stand there already; none of them is asked for twice. */
      readonly given: readonly string[];
    }
  | { readonly kind: "project" }
  | { readonly kind: "agent" };

const NOTHING: Subject = { kind: "fixed", candidates: [] };
/** Commands whose session need not live. */
const WHICH_SESSIONS: Readonly<Record<string, "terminated" | "all">> = {
  restore: "terminated",
  show: "all",
  list: "all",
  rewind: "all",
  fork: "all",
  compare: "all",
};

const fixed = (values: readonly string[]): Subject => ({
  kind: "fixed",
  candidates: values.map((value) => ({ value, description: "" })),
});

/** What a command asks for at one place. */
interface Asked {
  readonly name: string;
  readonly choices: readonly string[] | undefined;
  readonly given: readonly string[];
}

function named({ name, choices, given }: Asked, command: Command): Subject {
  if (choices) return fixed(choices);
  if (name === "session") return { kind: "session", which: WHICH_SESSIONS[command.name()] ?? "live", given };
  if (name === "project") return { kind: "project" };
  return name === "agent" ? { kind: "agent" } : NOTHING;
}

function optionsOf(command: Command): readonly Option[] {
  return command.parent ? [...command.options, ...optionsOf(command.parent)] : command.options;
}

function findOption(command: Command, word: string | undefined): Option | undefined {
  return optionsOf(command).find(
    ({ short, long }) => word !== undefined && (word === short || word === long),
  );
}

/** The command the words name, and those of them that are its own. */
function descend(command: Command, words: readonly string[]): { command: Command; rest: readonly string[] } {
  const [first, ...others] = words;
  const child = command.commands.find(
    (each) => first !== undefined && [each.name(), ...each.aliases()].includes(first),
  );
  return child ? descend(child, others) : { command, rest: words };
}

/** Those of a command's words that are neither flags nor values of flags. */
function argumentsIn(command: Command, words: readonly string[]): readonly string[] {
  return words.filter((word, index) => {
    if (word.startsWith("-")) return false;
    return !findOption(command, words[index - 1])?.required;
  });
}

function visibleCommands(command: Command): Subject {
  const shown = command.commands.filter((each) => !each.name().startsWith("_"));
  return {
    kind: "fixed",
    candidates: shown.map((each) => ({ value: each.name(), description: each.description() })),
  };
}

/** What may stand in place of the last of `words`, which may be empty; the words before it are complete. */
export function subjectOf(root: Command, words: readonly string[]): Subject {
  const current = words.at(-1) ?? "";
  const { command, rest } = descend(root, words.slice(0, -1));
  if (rest.includes("--")) return NOTHING;

  const awaited = findOption(command, rest.at(-1));
  if (awaited?.required) {
    return named({ name: awaited.attributeName(), choices: awaited.argChoices, given: [] }, command);
  }
  if (current.startsWith("-")) {
    const options = optionsOf(command).filter(({ hidden }) => !hidden);
    return {
      kind: "fixed",
      candidates: options.map(({ long, short, description }) => ({
        value: long ?? short ?? "",
        description,
      })),
    };
  }
  if (command.commands.length > 0) return visibleCommands(command);
  const given = argumentsIn(command, rest);
  const args = command.registeredArguments;
  const argument = args[given.length] ?? (args.at(-1)?.variadic ? args.at(-1) : undefined);
  return argument ? named({ name: argument.name(), choices: argument.argChoices, given }, command) : NOTHING;
}
