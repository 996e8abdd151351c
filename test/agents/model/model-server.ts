import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { type AnswerWriter, sendJson, type ToolCall } from "./answer-writer.ts";
import { anthropicWriter } from "./anthropic-wire.ts";
import { type Asked, asked, type Wire } from "./asked.ts";
import { chatWriter } from "./chat-wire.ts";
import { responsesWriter } from "./responses-wire.ts";
import type { Step } from "./steps.ts";

const WORD_MS = 100;
const WRITERS = { anthropic: anthropicWriter, responses: responsesWriter, chat: chatWriter };

/** A model on 127.0.0.1 that says what a test scripts, on all three wires, and remembers what it was asked. */
export interface ModelServer {
  readonly port: number;
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /**
   * What is answered to prompts that contain `marker`: the first step to the prompt itself, the next one after each
   * tool result; beyond the last, `done`. The latest script whose marker the newest prompt has is taken.
   */
  script(marker: string, ...steps: readonly Step[]): void;
  /** All requests of the agents' work, oldest first; titles and the like are not among them. */
  readonly asked: readonly Asked[];
  /** Requests whose newest prompt contains this. */
  about(marker: string): readonly Asked[];
  /** Lets every answer that hangs end. */
  release(): void;
}

interface Script {
  readonly marker: string;
  readonly steps: readonly Step[];
}

interface State {
  readonly scripts: Script[];
  readonly asked: Asked[];
  readonly hanging: Set<() => void>;
  readonly failed: Map<Step, number>;
  count: number;
}

/** The tool by which each agent runs a command, as its request offers it. */
function shellCall(tools: readonly string[], command: string, asks: boolean): ToolCall {
  if (tools.includes("Bash")) return { name: "Bash", input: { command, description: "a scripted call" } };
  if (tools.includes("exec_command"))
    return { name: "exec_command", input: { cmd: command, ...escalated(asks) } };
  if (tools.includes("shell_command"))
    return { name: "shell_command", input: { command, ...escalated(asks) } };
  return { name: "bash", input: { command, description: "a scripted call" } };
}

function escalated(asks: boolean): object {
  return asks ? { sandbox_permissions: "require_escalated", justification: "the script asks" } : {};
}

function stepFor({ scripts }: State, { prompts, results, isSide }: Asked): Step {
  if (isSide) return { kind: "text", text: "A title" };
  const newest = prompts.at(-1) ?? "";
  const found = scripts.findLast(({ marker }) => newest.includes(marker));
  return found?.steps[results.length] ?? { kind: "text", text: found === undefined ? "ok" : "done" };
}

function fails(state: State, step: Extract<Step, { readonly kind: "error" }>): boolean {
  const sofar = state.failed.get(step) ?? 0;
  state.failed.set(step, sofar + 1);
  return sofar < (step.times ?? Number.POSITIVE_INFINITY);
}

async function carryOut(
  state: State,
  step: Step,
  {
    writer,
    response,
    tools,
  }: { readonly writer: AnswerWriter; readonly response: ServerResponse; readonly tools: readonly string[] },
): Promise<void> {
  switch (step.kind) {
    case "text":
      return writer.say(step.text);
    case "slow":
      for (let at = 0; at < step.words && !response.destroyed; at++) {
        writer.say(`word${at} `);
        await sleep(WORD_MS);
      }
      return;
    case "hang":
      return hangUntil(state, response);
    case "run":
      return writer.call(shellCall(tools, step.command, step.asks === true));
    case "tool":
      return writer.call(step);
    case "error":
      return writer.say("recovered");
  }
}

async function hangUntil({ hanging }: State, response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    hanging.add(resolve);
    response.once("close", resolve);
  });
}

async function answer(state: State, one: Asked, response: ServerResponse): Promise<void> {
  const step = stepFor(state, one);
  if (step.kind === "error" && fails(state, step)) {
    const error = { type: "api_error", message: `scripted ${step.status}`, code: String(step.status) };
    return sendJson(response, step.status, { type: "error", error });
  }
  state.count += 1;
  const { isStream, tools, wire, body } = one;
  const model = String(body["model"] ?? "scripted");
  const writer = WRITERS[wire]({ response, number: state.count, model, isStream });
  writer.open();
  await carryOut(state, step, { writer, response, tools });
  if (!response.destroyed) writer.end();
}

function wireOf(path: string): Wire | undefined {
  if (path.endsWith("/messages")) return "anthropic";
  if (path.endsWith("/responses")) return "responses";
  return path.endsWith("/chat/completions") ? "chat" : undefined;
}

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as Record<string, unknown>;
  } catch {
    return {};
  }
}

async function serve(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? "/").split("?")[0] ?? "/";
  const body = await bodyOf(request);
  const wire = request.method === "POST" ? wireOf(path) : undefined;
  if (path.endsWith("/count_tokens")) return sendJson(response, 200, { input_tokens: 10 });
  if (wire === undefined) return sendJson(response, 200, { object: "list", data: [], models: [] });
  const one = asked(wire, body, request.headers);
  if (!one.isSide) state.asked.push(one);
  await answer(state, one, response);
}

/** Starts one; it is gone when the test ends. */
export async function modelServer(): Promise<ModelServer> {
  const state: State = { scripts: [], asked: [], hanging: new Set(), failed: new Map(), count: 0 };
  const server = createServer((request, response) => {
    serve(state, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    script: (marker, ...steps) => void state.scripts.push({ marker, steps }),
    asked: state.asked,
    about: (marker) => state.asked.filter(({ prompts }) => prompts.at(-1)?.includes(marker)),
    release() {
      for (const resolve of state.hanging) resolve();
    },
  };
}
