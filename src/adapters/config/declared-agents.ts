import * as z from "zod";
import { PERMISSION_MODES } from "../../domain/session.ts";
import {
  type AgentDeclaration,
  ANY_DECLARATION,
  DECLARED_EVENTS,
  PLACEHOLDERS,
} from "../../ports/agent-declaration.ts";

/** Names of agents that `ao` has a program for. */
const OWN_NAMES = ["embedded", "shell", "claude-code", "codex", "opencode"];

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value === null || value === undefined) return "nothing";
  return typeof value === "object" ? "a mapping" : `${typeof value} ${JSON.stringify(value)}`;
}

const expected = (what: string) => (issue: { readonly input?: unknown }) =>
  `must be ${what}, is ${kindOf(issue.input)}`;

/** What is wrong with the placeholders of an argument; `undefined` when nothing. */
function badPlaceholder(argument: string): string | undefined {
  const unknown = [...argument.matchAll(/\{[A-Za-z]+\}/g)]
    .map(([name]) => name)
    .find((name) => !PLACEHOLDERS.some((one) => one === name));
  if (unknown === "{prompt}") {
    return "must not hold the prompt, which every process list would show; see `prompt`";
  }
  return unknown && `holds ${unknown}, which is none of ${PLACEHOLDERS.join(", ")}`;
}

const argument = z.string({ error: expected("text") }).superRefine((text, context) => {
  const message = badPlaceholder(text);
  if (message !== undefined) context.addIssue({ code: "custom", message });
});

const argumentList = z.array(argument, { error: expected("a list of arguments") });

const pattern = z.string({ error: expected("a regular expression") }).superRefine((source, context) => {
  try {
    new RegExp(source, "u");
  } catch {
    context.addIssue({ code: "custom", message: `is no regular expression: ${JSON.stringify(source)}` });
  }
});

const patterns = z.array(pattern, { error: expected("a list of regular expressions") });

const key = z.string({ error: expected("the name of a key") }).regex(/^[A-Za-z0-9-]+$/, {
  error: "must be a key as tmux names it, for example Escape or C-c",
});

const mapping = { error: expected("a mapping") };

const modes = Object.fromEntries(PERMISSION_MODES.map((mode) => [mode, argumentList.optional()]));

const declaration = z.strictObject(
  {
    command: argumentList.min(1, { error: "must begin with a program" }),
    prompt: z.enum(["stdin", "file", "message"], { error: expected("stdin, file or message") }).optional(),
    promptArgs: argumentList.optional(),
    modelArgs: argumentList.optional(),
    sessionIdArgs: argumentList.optional(),
    resume: argumentList.optional(),
    conversationFile: z.string({ error: expected("a path") }).optional(),
    permissions: z.strictObject(modes, mapping).optional(),
    screen: z
      .strictObject(
        {
          ...{ ready: patterns.optional(), busy: patterns.optional() },
          ...{ waiting: patterns.optional(), question: patterns.optional() },
        },
        mapping,
      )
      .optional(),
    interrupt: z.array(key, { error: expected("a list of keys") }).optional(),
    hooks: z
      .array(z.enum(DECLARED_EVENTS, { error: expected(`one of ${DECLARED_EVENTS.join(", ")}`) }), {
        error: expected("a list of events"),
      })
      .optional(),
    env: z.record(z.string(), z.string({ error: expected("text") }), mapping).optional(),
    versionArgs: argumentList.optional(),
    tested: z.strictObject({ from: z.string(), to: z.string(), on: z.string() }, mapping).optional(),
  },
  mapping,
);

const name = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,30}$/, {
    error: "must be 1-31 small letters, digits and `-`, beginning with a letter",
  })
  .refine((one) => !OWN_NAMES.includes(one), { error: "is the name of an agent that ao brings itself" });

/** Agents that a file declares, by name. */
export const declaredAgentsSchema = z.record(name, declaration, mapping);

/** As the rest of `ao` knows them. */
export function declarationsOf(
  declared: z.output<typeof declaredAgentsSchema> | undefined,
): readonly AgentDeclaration[] {
  return Object.entries(declared ?? {}).map(([agent, said]) => {
    const { screen, permissions, ...rest } = said;
    const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
    const base = { ...ANY_DECLARATION, ...given, name: agent, command: said.command };
    return {
      ...base,
      ...(permissions !== undefined && { permissions: permissions as AgentDeclaration["permissions"] }),
      screen: { ...ANY_DECLARATION.screen, ...screen },
    } as AgentDeclaration;
  });
}
