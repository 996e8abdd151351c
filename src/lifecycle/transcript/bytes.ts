/** It alone ends a line. */
export const LINE_FEED = 0x0a;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenientDecoder = new TextDecoder();

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** A text as UTF-8. */
export function encode(text: string): Uint8Array {
  return encoder.encode(text);
}

/** A line as UTF-8, its line feed included. */
export function encodeLine(text: string): Uint8Array {
  return encoder.encode(`${text}\n`);
}

/** The text of UTF-8; `undefined` when the bytes are none. */
export function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The text of UTF-8, with U+FFFD for what is none. */
export function decodeAnything(bytes: Uint8Array): string {
  return lenientDecoder.decode(bytes);
}

/** Where the next line feed is, or -1. No other byte ends a line. */
export function lineEnd(bytes: Uint8Array, from: number): number {
  return bytes.indexOf(LINE_FEED, from);
}

export function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
