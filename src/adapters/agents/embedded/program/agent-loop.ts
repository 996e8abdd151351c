import { errorMessage } from "../../../../domain/errors.ts";
import type { HookBodies, RecordPlace } from "../hook-body.ts";
import type { Conversation } from "./conversation.ts";
import type { HookReporter } from "./hook-reporter.ts";
import { type QuestionDesk, questionDesk } from "./question-desk.ts";
import { runTurn, type TurnOutcome } from "./run-turn.ts";
import type { Screen } from "./screen.ts";

export interface AgentLoopDeps {
  readonly root: string;
  readonly conversation: Conversation;
  readonly screen: Pick<Screen, "print">;
  readonly report: HookReporter;
  leave(code: number, reason: string): void;
}

/** The agent at work: one turn at a time, messages in the order they came. */
export interface AgentLoop {
  /** Answers the question that is open, else runs as a turn of its own, after those that wait. */
  submit(text: string): void;
  /** Stops the running turn; `false` when the agent rests. */
  interrupt(): boolean;
  /** Leaves when all that was submitted is done. */
  finish(): void;
}

const ECHO_CHARACTERS = 200;

/** The first line of a message, for the screen. */
function excerpt(text: string): string {
  const [first = "", ...more] = text.slice(0, ECHO_CHARACTERS).split("\n");
  return more.length > 0 || text.length > ECHO_CHARACTERS ? `${first} …` : first;
}

function turnEnd(outcome: TurnOutcome): Omit<HookBodies["turn_end"], "place"> {
  if (outcome.kind === "failed") return { outcome: "failed", error: outcome.error };
  return { outcome: outcome.kind === "interrupted" ? "interrupted" : "completed", error: null };
}

/** Records a prompt, tells that it was taken, and works on it. */
async function takeUp(
  prompt: string,
  signal: AbortSignal,
  { root, conversation, screen, report, desk }: AgentLoopDeps & { readonly desk: QuestionDesk },
): Promise<TurnOutcome> {
  let place: RecordPlace;
  try {
    place = conversation.append({ kind: "prompt", text: prompt });
  } catch (error) {
    return { kind: "failed", error: `the prompt could not be recorded: ${errorMessage(error)}` };
  }
  report("submit", { prompt, place });
  screen.print(`> ${excerpt(prompt)}\nworking… (esc to interrupt)`);
  const reply = (text: string) => {
    report("reply", { text, place: conversation.append({ kind: "reply", text }) });
    screen.print(text);
  };
  return runTurn(prompt, {
    root,
    conversation,
    signal,
    reply,
    useTool: (name, path) =>
      report("tool", { name, path, place: conversation.append({ kind: "edit", path, tool: name }) }),
    ask: (question) => desk.ask(question, signal),
  });
}

/** Records how a turn ended, then tells it. */
function closeTurn(outcome: TurnOutcome, { conversation, screen, report }: AgentLoopDeps): void {
  const told = turnEnd(outcome);
  let place: RecordPlace | null = null;
  try {
    place = conversation.append({ kind: "turn_end", ...told });
  } catch (error) {
    screen.print(`the end of the turn could not be recorded: ${errorMessage(error)}`);
  }
  screen.print(told.error === null ? told.outcome : `${told.outcome}: ${told.error}`);
  report("turn_end", { ...told, place });
}

/** Makes the loop; it rests until the first message. */
export function agentLoop(deps: AgentLoopDeps): AgentLoop {
  const desk = questionDesk(deps);
  const queue: string[] = [];
  let running: AbortController | null = null;
  let finishing = false;

  const drain = async () => {
    for (let prompt = queue.shift(); prompt !== undefined; prompt = queue.shift()) {
      running = new AbortController();
      const outcome = await takeUp(prompt, running.signal, { ...deps, desk });
      closeTurn(outcome, deps);
      if (outcome.kind === "exit") return deps.leave(outcome.code, "exit");
    }
    running = null;
    if (finishing) deps.leave(0, "end of input");
    else deps.screen.print("ready");
  };

  return {
    submit: (text) => {
      if (desk.isOpen()) return desk.answer(text);
      queue.push(text);
      if (running === null) void drain();
      else deps.screen.print(`queued: ${excerpt(text)}`);
    },
    interrupt: () => {
      running?.abort();
      return running !== null;
    },
    finish: () => {
      finishing = true;
      desk.close();
      if (running === null) deps.leave(0, "end of input");
    },
  };
}
