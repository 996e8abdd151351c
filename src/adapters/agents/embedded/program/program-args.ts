import { parseArgs } from "node:util";
import { AoError, errorMessage } from "../../../../domain/errors.ts";
import { PERMISSION_MODES } from "../../../../domain/session.ts";
import { isConversationId } from "../conversation-path.ts";

/** Which conversation a start is about. `new` with a `null` id chooses one by itself. */
export type Start =
  | { readonly kind: "new"; readonly id: string | null }
  | { readonly kind: "resume"; readonly id: string }
  | { readonly kind: "fork"; readonly parentId: string; readonly id: string };

export type ProgramArgs =
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | {
      readonly kind: "run";
      readonly start: Start;
      readonly promptFile: string | null;
      readonly model: string | null;
    };

const OPTIONS = {
  "session-id": { type: "string" },
  resume: { type: "string" },
  fork: { type: "boolean" },
  "prompt-file": { type: "string" },
  model: { type: "string" },
  permissions: { type: "string" },
  help: { type: "boolean" },
  version: { type: "boolean" },
} as const;

function usage(message: string, cause?: unknown): AoError {
  return new AoError("usage", message, { cause });
}

function parseValues(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, strict: true }).values;
  } catch (error) {
    throw usage(errorMessage(error), error);
  }
}

type Values = ReturnType<typeof parseValues>;

function parseId(given: string | undefined): string | undefined {
  if (given === undefined || isConversationId(given)) return given;
  throw usage(`not a conversation id: ${JSON.stringify(given)}`);
}

function parseStart(values: Values): Start {
  const resumed = parseId(values.resume);
  const id = parseId(values["session-id"]);
  if (!values.fork && resumed === undefined) return { kind: "new", id: id ?? null };
  if (!values.fork && resumed !== undefined && id === undefined) return { kind: "resume", id: resumed };
  if (!values.fork) throw usage("--resume keeps its id; --session-id names the new one of a --fork");
  if (resumed === undefined || id === undefined) throw usage("--fork needs both --resume and --session-id");
  return { kind: "fork", parentId: resumed, id };
}

/**
 * Reads the program's arguments, without the two that Node puts in front.
 *
 * @throws AoError usage when they make no sense together.
 */
export function parseProgramArgs(argv: readonly string[]): ProgramArgs {
  const values = parseValues(argv);
  if (values.help) return { kind: "help" };
  if (values.version) return { kind: "version" };
  const { permissions } = values;
  if (permissions !== undefined && !PERMISSION_MODES.some((mode) => mode === permissions)) {
    throw usage(`--permissions is one of ${PERMISSION_MODES.join(", ")}`);
  }
  return {
    kind: "run",
    start: parseStart(values),
    promptFile: values["prompt-file"] ?? null,
    model: values.model ?? null,
  };
}
