/** How the program is called. */
export const USAGE = `usage: embedded-agent [--session-id <uuid>] [options]
       embedded-agent --resume <uuid> [options]
       embedded-agent --resume <uuid> --fork --session-id <uuid> [options]

options:
  --prompt-file <path>   run the text of this file as the first prompt
  --model <name>         accepted and shown; there is no model behind this agent
  --permissions <mode>   default, accept-edits or bypass; accepted, edits are always confined
  --version, --help`;

/**
 * The prompt language, as `help` prints it.
 *
 * A prompt is one turn. Its lines that begin with one of these words are steps and run in order; the first
 * one that fails ends the turn. All other lines are prose and change nothing.
 */
export const HELP_LINES: readonly string[] = [
  "Every line of a prompt that begins with one of these words is a step:",
  "  say <text>               answers with the text",
  "  write <path> <text>      writes a file; \\n, \\t and \\\\ are escapes, a last newline is added",
  "  append <path> <text>     the same, at the end of the file",
  "  delete <path>            removes a file",
  "  commit <message>         commits the files this conversation edited, and no others",
  "  ask <question>           asks, and waits for the next message as the answer",
  "  wait <seconds>           works for so long; esc interrupts",
  "  background <seconds>     starts a child process that lives on by itself",
  "  recall                   lists the earlier prompts of this conversation",
  "  fail <message>           ends the turn in an error",
  "  exit [code]              ends the agent",
  "  crash                    kills the agent with SIGKILL",
  "  help                     shows this",
  'Paths lie in the working directory; one with spaces is written "like this".',
  "Keys: enter sends, esc interrupts, ctrl-c interrupts or exits, ctrl-d exits, ctrl-u clears the line.",
];

/** Answers a prompt that has no step in it. */
export const NO_STEPS_LINE =
  "I am the embedded agent of ao: a small stand-in with no language model. I keep your prompts and follow " +
  "steps such as `write <path> <text>`, `commit <message>` or `ask <question>`; `help` lists them all.";
