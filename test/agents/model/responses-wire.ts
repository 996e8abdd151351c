import { type Answer, type AnswerWriter, openStream, sendEvent } from "./answer-writer.ts";

const USAGE = {
  ...{ input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  input_tokens_details: { cached_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 0 },
};

/** OpenAI Responses, streamed. */
export function responsesWriter({ response, number }: Answer): AnswerWriter {
  const send = (type: string, data: object) => sendEvent(response, type, data);
  const output: object[] = [];
  const about = { id: `resp_${number}`, object: "response" };
  const message = { id: `msg_${number}`, type: "message", role: "assistant" };
  let said: string | null = null;
  const done = (item: object) => {
    send("response.output_item.done", { output_index: output.length, item });
    output.push(item);
  };
  const close = () => {
    if (said === null) return;
    const content = [{ type: "output_text", text: said, annotations: [] }];
    said = null;
    done({ ...message, status: "completed", content });
  };
  return {
    open() {
      openStream(response);
      send("response.created", { response: { ...about, status: "in_progress", output: [] } });
    },
    say(text) {
      if (said === null) {
        const item = { ...message, status: "in_progress", content: [] };
        send("response.output_item.added", { output_index: output.length, item });
      }
      said = (said ?? "") + text;
      const at = { item_id: message.id, output_index: output.length, content_index: 0 };
      send("response.output_text.delta", { ...at, delta: text });
    },
    call({ name: path, input }) {
      close();
      const ids = { id: `fc_${number}`, call_id: `call_${number}` };
      const [name, namespace] = path.split(".").reverse();
      const named = namespace === undefined ? { name } : { namespace, name };
      done({
        ...ids,
        type: "function_call",
        ...named,
        arguments: JSON.stringify(input),
        status: "completed",
      });
    },
    end() {
      close();
      send("response.completed", { response: { ...about, status: "completed", output, usage: USAGE } });
      response.end();
    },
  };
}
