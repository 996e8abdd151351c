export type Wire = "anthropic" | "responses" | "chat";

/** What an agent asked the model, of whichever wire. */
export interface Asked {
  readonly wire: Wire;
  /** Without tools: titles and summaries, which no script answers. */
  readonly isSide: boolean;
  /** What people said, oldest first, without what agents put around it. */
  readonly prompts: readonly string[];
  /** What tools gave back since the last prompt, oldest first. */
  readonly results: readonly string[];
  readonly tools: readonly string[];
  readonly isStream: boolean;
  readonly body: Body;
  /** Headers in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

type Body = Readonly<Record<string, unknown>>;
type Part = Readonly<Record<string, unknown>>;
/** One thing in the order of the conversation. */
interface Item {
  readonly kind: "prompt" | "result";
  readonly text: string;
}

/** What agents themselves put into a user's message (claude 2.1.197, codex 0.171.0, opencode 1.18.33). */
const AROUND =
  /^\s*<(system-reminder|environment_context|permissions|user_instructions|[a-z_]+_instructions|local-command|turn_aborted|INSTRUCTIONS)|^# AGENTS\.md/;

const asParts = (value: unknown): readonly Part[] => (Array.isArray(value) ? (value as Part[]) : []);
const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? ""));

function textsOf(content: unknown): readonly string[] {
  if (typeof content === "string") return [content];
  return asParts(content).flatMap(({ type, text }) =>
    typeof text === "string" && String(type).includes("text") ? [text] : [],
  );
}

function promptsOf(content: unknown): readonly Item[] {
  return textsOf(content)
    .filter((text) => text.trim() !== "" && !AROUND.test(text))
    .map((text) => ({ kind: "prompt", text }));
}

function anthropicItems({ messages }: Body): readonly Item[] {
  return asParts(messages)
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => [
      ...asParts(content)
        .filter(({ type }) => type === "tool_result")
        .map((part): Item => ({ kind: "result", text: asText(part["content"]) })),
      ...promptsOf(content),
    ]);
}

function responsesItems({ input }: Body): readonly Item[] {
  return asParts(input).flatMap((item): readonly Item[] => {
    if (String(item["type"]).endsWith("call_output"))
      return [{ kind: "result", text: asText(item["output"]) }];
    return item["role"] === "user" ? promptsOf(item["content"]) : [];
  });
}

function chatItems({ messages }: Body): readonly Item[] {
  return asParts(messages).flatMap(({ role, content }): readonly Item[] => {
    if (role === "tool") return [{ kind: "result", text: asText(content) }];
    return role === "user" ? promptsOf(content) : [];
  });
}

const ITEMS = { anthropic: anthropicItems, responses: responsesItems, chat: chatItems };

function toolName(tool: Part): string {
  const inner = tool["function"];
  const name =
    tool["name"] ?? (typeof inner === "object" && inner !== null ? (inner as Part)["name"] : undefined);
  return String(name ?? tool["type"]);
}

/** Reads a request. */
export function asked(wire: Wire, body: Body, headers: Asked["headers"]): Asked {
  const items = ITEMS[wire](body);
  const tools = asParts(body["tools"]).map(toolName);
  const lastPrompt = items.findLastIndex(({ kind }) => kind === "prompt");
  return {
    ...{ wire, tools, body, headers, isSide: tools.length === 0, isStream: body["stream"] === true },
    prompts: items.filter(({ kind }) => kind === "prompt").map(({ text }) => text),
    results: items
      .slice(lastPrompt + 1)
      .filter(({ kind }) => kind === "result")
      .map(({ text }) => text),
  };
}
