import { errorMessage } from "../../../../domain/errors.ts";
import { NO_STEPS_LINE } from "./help.ts";
import { runStep, type StepOutcome, type TurnTools } from "./run-step.ts";
import { parsePromptSteps } from "./steps.ts";

/** How a turn ended. */
export type TurnOutcome =
  | { readonly kind: "completed" }
  | { readonly kind: "interrupted" }
  | Exclude<StepOutcome, { kind: "next" }>;

function acknowledge(stepCount: number, proseLines: number, tools: TurnTools): void {
  if (stepCount === 0) tools.reply(NO_STEPS_LINE);
  else if (proseLines > 0) tools.reply(`noted ${proseLines} ${proseLines === 1 ? "line" : "lines"} of prose`);
}

/** Runs a prompt's steps in order until one ends the turn, an error or the signal. Never rejects. */
export async function runTurn(prompt: string, tools: TurnTools): Promise<TurnOutcome> {
  try {
    const { steps, proseLines } = parsePromptSteps(prompt);
    acknowledge(steps.length, proseLines, tools);
    for (const step of steps) {
      const outcome = await runStep(step, tools);
      if (outcome.kind !== "next") return outcome;
      tools.signal.throwIfAborted();
    }
    return { kind: "completed" };
  } catch (error) {
    return tools.signal.aborted ? { kind: "interrupted" } : { kind: "failed", error: errorMessage(error) };
  }
}
