import type { ServerResponse } from "node:http";

/** A tool that the model calls. `input` as text for a tool that takes free text. */
export interface ToolCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Writes one answer on one wire: `open`, any number of `say` and `call`, `end`. */
export interface AnswerWriter {
  open(): void;
  say(text: string): void;
  call(tool: ToolCall): void;
  end(): void;
}

/** What a writer needs to know of the answer. */
export interface Answer {
  readonly response: ServerResponse;
  /** Unique in a server. */
  readonly number: number;
  readonly model: string;
  readonly isStream: boolean;
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

export function openStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
}

/** One server-sent event with its type in both places, as the two event wires have it. */
export function sendEvent(response: ServerResponse, type: string, data: object): void {
  response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
}
