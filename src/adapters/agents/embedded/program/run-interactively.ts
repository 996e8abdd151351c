import { PROGRAM_VERSION } from "../program-version.ts";
import { type AgentLoop, agentLoop } from "./agent-loop.ts";
import type { Conversation } from "./conversation.ts";
import { createDraft, type Draft } from "./draft.ts";
import { hookReporter } from "./hook-reporter.ts";
import type { InputEvent } from "./input-parser.ts";
import { openKeyboard } from "./keyboard.ts";
import type { Start } from "./program-args.ts";
import { openScreen } from "./screen.ts";

export interface InteractiveRun {
  readonly root: string;
  /** The first prompt, run at once. */
  readonly prompt: string | null;
  readonly conversation: Conversation;
  readonly model: string | null;
  readonly startKind: Start["kind"];
}

/** A second ctrl-c within this time leaves although a turn runs, in milliseconds. */
const TWICE_MS = 1000;

const SOURCES = { new: "startup", resume: "resume", fork: "fork" } as const;

function greeting({ conversation, startKind, model }: InteractiveRun): string {
  const { prompts, turnOpen } = conversation.memory();
  const lines = [
    `embedded agent ${PROGRAM_VERSION} of ao, conversation ${conversation.id}`,
    ...(startKind === "new" ? [] : [`${SOURCES[startKind]}: ${prompts.length} earlier prompts`]),
    ...(turnOpen ? ["the last turn was cut off before its end"] : []),
    ...(model === null ? [] : [`model ${model}: accepted, but there is none behind this agent`]),
    "ready; `help` lists what I understand",
  ];
  return lines.join("\n");
}

interface Keys {
  readonly draft: Draft;
  readonly loop: AgentLoop;
  leaveByUser(): void;
}

/** Decides what ctrl-c means: interrupt, clear the line, or leave. */
function interruptKey(keys: Keys): () => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  return () => {
    const isSecond = performance.now() - lastMs < TWICE_MS;
    lastMs = performance.now();
    if (isSecond) return keys.leaveByUser();
    if (keys.loop.interrupt()) return;
    if (keys.draft.isEmpty()) return keys.leaveByUser();
    keys.draft.clear();
  };
}

function submitDraft({ draft, loop }: Keys): void {
  if (!draft.isEmpty()) loop.submit(draft.take());
}

function keyBindings(keys: Keys, onInterrupt: () => void): (event: InputEvent) => void {
  const bindings = {
    enter: () => submitDraft(keys),
    backspace: () => keys.draft.backspace(),
    clear: () => keys.draft.clear(),
    escape: () => keys.loop.interrupt(),
    interrupt: onInterrupt,
    end: () => {
      if (keys.draft.isEmpty()) keys.leaveByUser();
    },
  };
  return (event) => {
    if (event.kind === "text") keys.draft.append(event.bytes);
    else bindings[event.kind]();
  };
}

/**
 * Runs the agent on the process's own terminal, or on pipes, until somebody or something ends it.
 *
 * The hook events are in the order of what they tell. SIGTERM and SIGHUP leave with 143 and 129.
 */
export function runInteractively(run: InteractiveRun): void {
  const { conversation, root } = run;
  const report = hookReporter(process.env, conversation.id);
  const screen = openScreen(process.stdout);
  const draft = createDraft();
  let leaving = false;

  const leave = (code: number, reason: string) => {
    if (leaving) return;
    leaving = true;
    report("session_end", { reason });
    keyboard.close();
    screen.close();
    process.exit(code);
  };
  const loop = agentLoop({ root, conversation, screen, report, leave });
  const keys: Keys = { draft, loop, leaveByUser: () => leave(0, "user") };
  const onInterrupt = interruptKey(keys);
  const keyboard = openKeyboard(process.stdin, {
    onInput: keyBindings(keys, onInterrupt),
    onRead: () => screen.showInput(draft.view()),
    onEnd: () => {
      if (process.stdin.isTTY) return leave(129, "SIGHUP");
      submitDraft(keys);
      loop.finish();
    },
  });

  process.on("SIGTERM", () => leave(143, "SIGTERM"));
  process.on("SIGHUP", () => leave(129, "SIGHUP"));
  process.on("SIGINT", onInterrupt);
  process.on("uncaughtException", (error) => {
    screen.print(`internal error: ${error.message}`);
    leave(1, "error");
  });

  screen.print(greeting(run));
  report("session_start", { source: SOURCES[run.startKind] });
  if (run.prompt) loop.submit(run.prompt);
}
