import { errorMessage } from "../../../../domain/errors.ts";
import type { Conversation } from "./conversation.ts";
import type { HookReporter } from "./hook-reporter.ts";
import type { Screen } from "./screen.ts";

export interface QuestionDeskDeps {
  readonly conversation: Pick<Conversation, "append">;
  readonly screen: Pick<Screen, "print">;
  readonly report: HookReporter;
}

/** Holds the one question a turn may have open. */
export interface QuestionDesk {
  /** Resolves with the answer; rejects when the signal aborts, or when no more input can come. */
  ask(question: string, signal: AbortSignal): Promise<string>;
  isOpen(): boolean;
  /** Answers the open question; without one it does nothing. */
  answer(text: string): void;
  /** From now on nobody can answer: an open question is refused, and so are later ones. */
  close(): void;
}

interface OpenQuestion {
  readonly question: string;
  answer(text: string): void;
  refuse(reason: unknown): void;
}

/** Makes a desk without a question. */
export function questionDesk({ conversation, screen, report }: QuestionDeskDeps): QuestionDesk {
  let open: OpenQuestion | null = null;
  let closed = false;
  const noAnswer = () => new Error("the input has ended, so that nobody can answer");

  const settle = ({ question, answer }: OpenQuestion, text: string) => {
    const place = conversation.append({ kind: "answer", text });
    open = null;
    report("submit", { prompt: text, answers: true, place });
    report("resumed", { question });
    answer(text);
  };

  return {
    ask: (question, signal) =>
      new Promise<string>((answer, refuse) => {
        if (closed) throw noAnswer();
        const place = conversation.append({ kind: "question", text: question });
        report("reply", { text: question, question: true, place });
        open = { question, answer, refuse };
        signal.addEventListener("abort", () => refuse(signal.reason), { once: true });
        screen.print(`question: ${question}\nwaiting for an answer…`);
        report("waiting", { question });
      }).finally(() => {
        open = null;
      }),
    isOpen: () => open !== null,
    answer: (text) => {
      try {
        if (open) settle(open, text);
      } catch (error) {
        screen.print(`the answer could not be recorded: ${errorMessage(error)}`);
      }
    },
    close: () => {
      closed = true;
      open?.refuse(noAnswer());
    },
  };
}
