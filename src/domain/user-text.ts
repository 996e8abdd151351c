import { AoError } from "./errors.ts";

const MAX_LINE_CHARS = 200;
const MAX_PROMPT_BYTES = 16 * 1024 * 1024;
/** UTF-8 takes at most 3 bytes for a UTF-16 code unit (RFC 3629). */
const MAX_BYTES_PER_UNIT = 3;

/**
 * Accepts a title as it is: one line of 1 to 200 characters.
 *
 * @throws AoError usage when it is empty, longer, or holds a line break or a NUL.
 */
export function parseTitle(text: string): string {
  return parseLine("title", text);
}

/**
 * Accepts an issue id as it is, whatever it holds: one line of 1 to 200 characters.
 *
 * @throws AoError usage when it is empty, longer, or holds a line break or a NUL.
 */
export function parseIssueId(text: string): string {
  return parseLine("issue id", text);
}

/**
 * Accepts a request id as it is, whatever it holds: one line of 1 to 200 characters.
 *
 * @throws AoError usage when it is empty, longer, or holds a line break or a NUL.
 */
export function parseRequestId(text: string): string {
  return parseLine("request id", text, "any short line will do, for example a UUID");
}

/**
 * Accepts a prompt as it is, of any content up to 16 MiB of UTF-8.
 *
 * @throws AoError usage when it is longer or holds a NUL, which no terminal input can carry.
 */
export function parsePrompt(text: string): string {
  if (isLongerThan(text, MAX_PROMPT_BYTES)) {
    throw new AoError("usage", "the prompt is longer than 16 MiB", {
      hint: "put the material into a file of the repository and name the file in the prompt",
    });
  }
  refuseNul("prompt", text);
  return text;
}

const REST_INTO_PROMPT = "shorten it, and put the rest into the prompt: --prompt or --prompt-file";

function parseLine(name: string, text: string, tooMuchHint = REST_INTO_PROMPT): string {
  if (text.trim() === "") {
    throw new AoError("usage", `the ${name} is empty`, {
      hint: `leave it out, or give the ${name} some text`,
    });
  }
  // A character is one or two code units: longer text needs no counting.
  if (text.length > 2 * MAX_LINE_CHARS || [...text].length > MAX_LINE_CHARS) {
    throw new AoError("usage", `the ${name} is longer than ${MAX_LINE_CHARS} characters`, {
      hint: tooMuchHint,
    });
  }
  refuseNul(name, text);
  if (/[\n\r\u2028\u2029]/.test(text)) {
    throw new AoError("usage", `the ${name} has more than one line`, {
      hint: tooMuchHint,
    });
  }
  return text;
}

function refuseNul(name: string, text: string): void {
  if (!text.includes("\0")) return;
  throw new AoError("usage", `the ${name} contains a NUL character`, {
    hint: `remove it; a binary file is no ${name}`,
  });
}

function isLongerThan(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  if (text.length * MAX_BYTES_PER_UNIT <= maxBytes) return false;
  return new TextEncoder().encode(text).length > maxBytes;
}
