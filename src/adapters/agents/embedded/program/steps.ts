/** One thing a prompt asks for. */
export type Step =
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "write"; readonly path: string; readonly text: string }
  | { readonly kind: "append"; readonly path: string; readonly text: string }
  | { readonly kind: "delete"; readonly path: string }
  | { readonly kind: "commit"; readonly message: string }
  | { readonly kind: "ask"; readonly question: string }
  | { readonly kind: "wait"; readonly delayMs: number }
  | { readonly kind: "background"; readonly seconds: number }
  | { readonly kind: "recall" }
  | { readonly kind: "help" }
  | { readonly kind: "fail"; readonly message: string }
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "crash" };

export interface ParsedPrompt {
  /** In the order of their lines. */
  readonly steps: readonly Step[];
  /** How many lines were prose: neither empty nor a step. */
  readonly proseLines: number;
}

type StepParser = (rest: string) => Step | undefined;

const SECONDS = /^[0-9]{1,6}(\.[0-9]{1,3})?$/;
const EXIT_CODE = /^[0-9]{1,3}$/;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["\\", "\\"],
]);

function decodeEscapes(text: string): string {
  return text.replace(/\\([nt\\])/g, (whole, letter: string) => ESCAPES.get(letter) ?? whole);
}

/** A first word, or a first JSON string for a path with spaces, and what follows it. */
function splitPath(rest: string): { readonly path: string; readonly text: string } | undefined {
  const [, quoted, word, text = ""] = /^(?:("(?:[^"\\]|\\.)*")|([^\s"]\S*))(?:\s(.*))?$/.exec(rest) ?? [];
  const path = quoted === undefined ? word : parseQuoted(quoted);
  return path ? { path, text } : undefined;
}

function parseQuoted(quoted: string): string | undefined {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return undefined;
  }
}

function edit(kind: "write" | "append", rest: string): Step | undefined {
  const parts = splitPath(rest);
  return parts && { kind, path: parts.path, text: decodeEscapes(parts.text) };
}

function deletion(rest: string): Step | undefined {
  const parts = splitPath(rest.trimEnd());
  return parts && parts.text === "" ? { kind: "delete", path: parts.path } : undefined;
}

function seconds(rest: string): number | undefined {
  return SECONDS.test(rest.trim()) ? Number(rest) : undefined;
}

function wait(rest: string): Step | undefined {
  const delay = seconds(rest);
  return delay === undefined ? undefined : { kind: "wait", delayMs: delay * 1000 };
}

function background(rest: string): Step | undefined {
  const delay = seconds(rest);
  return delay === undefined ? undefined : { kind: "background", seconds: delay };
}

function exit(rest: string): Step | undefined {
  const code = rest.trim() === "" ? 0 : Number(rest);
  return rest.trim() === "" || (EXIT_CODE.test(rest.trim()) && code <= 255)
    ? { kind: "exit", code }
    : undefined;
}

const alone =
  (step: Step): StepParser =>
  (rest) =>
    rest.trim() === "" ? step : undefined;

const withText =
  (make: (text: string) => Step): StepParser =>
  (rest) =>
    rest.trim() === "" ? undefined : make(rest);

const PARSERS: ReadonlyMap<string, StepParser> = new Map<Step["kind"], StepParser>([
  ["say", (text) => ({ kind: "say", text })],
  ["write", (rest) => edit("write", rest)],
  ["append", (rest) => edit("append", rest)],
  ["delete", deletion],
  ["commit", withText((message) => ({ kind: "commit", message }))],
  ["ask", withText((question) => ({ kind: "ask", question }))],
  ["wait", wait],
  ["background", background],
  ["recall", alone({ kind: "recall" })],
  ["help", alone({ kind: "help" })],
  ["fail", withText((message) => ({ kind: "fail", message }))],
  ["exit", exit],
  ["crash", alone({ kind: "crash" })],
]);

/** The step a line stands for; `undefined` when it does not begin with one or says too little for it. */
function parseLine(line: string): Step | undefined {
  const [, word = "", rest = ""] = /^([a-z]+)(?: (.*))?$/.exec(line) ?? [];
  return PARSERS.get(word)?.(rest);
}

/** Reads a prompt as steps, one a line; every other line is prose. Total: any text is a prompt. */
export function parsePromptSteps(prompt: string): ParsedPrompt {
  const lines = prompt.split(/\r\n|\r|\n/).filter((line) => line.trim() !== "");
  const steps = lines.map(parseLine).filter((step) => step !== undefined);
  return { steps, proseLines: lines.length - steps.length };
}
