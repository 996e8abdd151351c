import { type Answer, type AnswerWriter, openStream, sendJson } from "./answer-writer.ts";

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** OpenAI Chat Completions, streamed. */
function streamed({ response, number, model }: Answer): AnswerWriter {
  const about = { id: `chat_${number}`, object: "chat.completion.chunk", model };
  const send = (delta: object, finish_reason: string | null = null, more: object = {}) => {
    const choices = [{ index: 0, delta, finish_reason }];
    response.write(`data: ${JSON.stringify({ ...about, choices, ...more })}\n\n`);
  };
  let reason = "stop";
  return {
    open() {
      openStream(response);
      send({ role: "assistant", content: "" });
    },
    say: (text) => send({ content: text }),
    call({ name, input }) {
      reason = "tool_calls";
      const called = { name, arguments: JSON.stringify(input) };
      send({ tool_calls: [{ index: 0, id: `call_${number}`, type: "function", function: called }] });
    },
    end() {
      send({}, reason, { usage: USAGE });
      response.end("data: [DONE]\n\n");
    },
  };
}

function whole({ response, number, model }: Answer): AnswerWriter {
  let content = "";
  return {
    open: () => {},
    say: (text) => {
      content += text;
    },
    call: () => {},
    end() {
      const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
      sendJson(response, 200, {
        id: `chat_${number}`,
        object: "chat.completion",
        model,
        choices,
        usage: USAGE,
      });
    },
  };
}

export function chatWriter(answer: Answer): AnswerWriter {
  return answer.isStream ? streamed(answer) : whole(answer);
}
