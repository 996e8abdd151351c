import { type Answer, type AnswerWriter, openStream, sendEvent, sendJson } from "./answer-writer.ts";

const USAGE = { input_tokens: 10, output_tokens: 5 };

/** Anthropic Messages, streamed. */
function streamed({ response, number, model }: Answer): AnswerWriter {
  const send = (type: string, data: object) => sendEvent(response, type, data);
  let index = -1;
  let isOpen = false;
  let reason = "end_turn";
  const close = () => {
    if (isOpen) send("content_block_stop", { index });
    isOpen = false;
  };
  const begin = (content_block: object) => {
    close();
    index += 1;
    isOpen = true;
    send("content_block_start", { index, content_block });
  };
  return {
    open() {
      openStream(response);
      const head = { id: `msg_${number}`, type: "message", role: "assistant", model, content: [] };
      send("message_start", { message: { ...head, stop_reason: null, stop_sequence: null, usage: USAGE } });
    },
    say(text) {
      if (!isOpen) begin({ type: "text", text: "" });
      send("content_block_delta", { index, delta: { type: "text_delta", text } });
    },
    call({ name, input }) {
      reason = "tool_use";
      begin({ type: "tool_use", id: `toolu_${number}`, name, input: {} });
      const delta = { type: "input_json_delta", partial_json: JSON.stringify(input) };
      send("content_block_delta", { index, delta });
    },
    end() {
      close();
      send("message_delta", { delta: { stop_reason: reason, stop_sequence: null }, usage: USAGE });
      send("message_stop", {});
      response.end();
    },
  };
}

function whole({ response, number, model }: Answer): AnswerWriter {
  const content: object[] = [];
  return {
    open: () => {},
    say: (text) => void content.push({ type: "text", text }),
    call: ({ name, input }) => void content.push({ type: "tool_use", id: `toolu_${number}`, name, input }),
    end() {
      const head = { id: `msg_${number}`, type: "message", role: "assistant", model, content };
      sendJson(response, 200, { ...head, stop_reason: "end_turn", stop_sequence: null, usage: USAGE });
    },
  };
}

export function anthropicWriter(answer: Answer): AnswerWriter {
  return answer.isStream ? streamed(answer) : whole(answer);
}
