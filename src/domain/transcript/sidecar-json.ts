import { type JsonValue, jsonMembers } from "../canonical-json.ts";

/** The members of a JSON object; `undefined` for any other text. */
export function parseMembers(text: string): { readonly [name: string]: JsonValue } | undefined {
  try {
    return jsonMembers(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Whether a text holds nothing but white space and NUL. */
export function isBlank(text: string): boolean {
  return /^[\0\s]*$/.test(text);
}

/** Whether a value is a whole number from 0. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
