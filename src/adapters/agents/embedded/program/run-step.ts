import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { assertNever } from "../../../../domain/assert-never.ts";
import { confinePath } from "./confined-path.ts";
import type { Conversation } from "./conversation.ts";
import { type EditStep, editFile } from "./edit-files.ts";
import { commitFiles } from "./git-commit.ts";
import { HELP_LINES } from "./help.ts";
import type { Step } from "./steps.ts";

/** What a turn works with. */
export interface TurnTools {
  /** The working directory, resolved. */
  readonly root: string;
  readonly conversation: Pick<Conversation, "memory">;
  readonly signal: AbortSignal;
  /** Says something to the person; it becomes part of the conversation. */
  reply(text: string): void;
  /** Makes it part of the conversation that a file is about to be changed. */
  useTool(name: EditStep["kind"], path: string): void;
  /** Resolves with the next message; rejects when the turn is interrupted. */
  ask(question: string): Promise<string>;
}

/** How a step leaves its turn. */
export type StepOutcome =
  | { readonly kind: "next" }
  | { readonly kind: "failed"; readonly error: string }
  | { readonly kind: "exit"; readonly code: number };

const NEXT: StepOutcome = { kind: "next" };
const LONGEST_RECALLED_CHARACTERS = 200;

function edit(step: EditStep, tools: TurnTools): void {
  const path = confinePath(tools.root, step.path);
  tools.useTool(step.kind, path);
  editFile(tools.root, path, step);
  tools.reply(`${step.kind === "delete" ? "deleted" : "wrote"} ${path}`);
}

async function commit(message: string, tools: TurnTools): Promise<void> {
  const { root, signal } = tools;
  const commitId = await commitFiles({ root, signal, message, paths: tools.conversation.memory().edits });
  tools.reply(commitId === null ? "nothing to commit" : `committed ${commitId} ${message}`);
}

function startBackground(seconds: number, tools: TurnTools): void {
  const child = spawn("sleep", [String(seconds)], { detached: true, stdio: "ignore" });
  child.on("error", (error) => tools.reply(`no background process: ${error.message}`));
  child.unref();
  if (child.pid !== undefined) tools.reply(`started background process ${child.pid} for ${seconds} s`);
}

function recall(tools: TurnTools): void {
  const earlier = tools.conversation.memory().prompts.slice(0, -1);
  if (earlier.length === 0) tools.reply("recall: nothing yet");
  for (const [index, prompt] of earlier.entries()) {
    tools.reply(`recall ${index + 1}: ${JSON.stringify(prompt.slice(0, LONGEST_RECALLED_CHARACTERS))}`);
  }
}

/** Does the steps that only have an effect. */
async function act(step: Exclude<Step, { kind: "fail" | "exit" }>, tools: TurnTools): Promise<void> {
  switch (step.kind) {
    case "say":
      return tools.reply(step.text);
    case "write":
    case "append":
    case "delete":
      return edit(step, tools);
    case "commit":
      return commit(step.message, tools);
    case "ask":
      return tools.reply(`answer: ${await tools.ask(step.question)}`);
    case "wait":
      return delay(step.delayMs, undefined, { signal: tools.signal });
    case "background":
      return startBackground(step.seconds, tools);
    case "recall":
      return recall(tools);
    case "help":
      return tools.reply(HELP_LINES.join("\n"));
    case "crash":
      process.kill(process.pid, "SIGKILL");
      return;
    default:
      return assertNever(step);
  }
}

/**
 * Does one step.
 *
 * @throws AbortError when the turn's signal interrupted it; any other error is why the step failed.
 */
export async function runStep(step: Step, tools: TurnTools): Promise<StepOutcome> {
  if (step.kind === "fail") return { kind: "failed", error: step.message };
  if (step.kind === "exit") return step;
  await act(step, tools);
  return NEXT;
}
