/** What a person or a program did at the keyboard. Pasted and typed bytes are the same kind of `text`. */
export type InputEvent =
  | { readonly kind: "text"; readonly bytes: Uint8Array }
  | { readonly kind: "enter" | "backspace" | "clear" | "escape" | "interrupt" | "end" };

/** What has to be known of earlier bytes to read the next ones. */
export interface InputState {
  readonly mode: "keys" | "paste";
  /** Bytes that may be the beginning of a sequence. */
  readonly held: Uint8Array;
  /** `held` is a lone escape byte that was already told as the escape key. */
  readonly escapeTold: boolean;
}

export interface InputStep {
  readonly state: InputState;
  readonly events: readonly InputEvent[];
}

/** `size` bytes were read; `null` when more must come first. */
interface Token {
  readonly size: number;
  readonly event?: InputEvent;
  readonly opensPaste?: boolean;
}

const NOTHING = new Uint8Array(0);
const ESCAPE = 0x1b;
const MAX_SEQUENCE_BYTES = 32;

// Bracketed paste as xterm defines it: ctlseqs, "Bracketed Paste Mode".
const PASTE_START = Buffer.from("\x1b[200~");
const PASTE_END = Buffer.from("\x1b[201~");

/** Keys of one byte, in raw mode. A line feed is text: only a carriage return submits. */
const KEYS: ReadonlyMap<number, InputEvent> = new Map<number, InputEvent>([
  [0x0d, { kind: "enter" }],
  [0x7f, { kind: "backspace" }],
  [0x08, { kind: "backspace" }],
  [0x15, { kind: "clear" }],
  [0x03, { kind: "interrupt" }],
  [0x04, { kind: "end" }],
]);

/** The state before the first byte. */
export const INITIAL_INPUT: InputState = { mode: "keys", held: NOTHING, escapeTold: false };

function isText(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x20 && byte !== 0x7f) || byte === 0x0a || byte === 0x09);
}

function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  return prefix.every((byte, index) => bytes[index] === byte);
}

function isBeginningOf(bytes: Uint8Array, whole: Uint8Array): boolean {
  return bytes.length < whole.length && startsWith(whole, bytes);
}

/** A control sequence that stands for a key we have no use for, such as an arrow. */
function unusedSequence(bytes: Uint8Array): Token | null {
  const bodyStart = 2;
  const final = bytes.subarray(bodyStart).findIndex((byte) => byte >= 0x40 && byte <= 0x7e);
  if (final >= 0) return { size: bodyStart + final + 1 };
  return bytes.length < MAX_SEQUENCE_BYTES ? null : { size: bytes.length };
}

function escapeToken(bytes: Uint8Array): Token | null {
  if (startsWith(bytes, PASTE_START)) return { size: PASTE_START.length, opensPaste: true };
  switch (bytes[1]) {
    case undefined:
      return null;
    case 0x5b: // [
    case 0x4f: // O
      return unusedSequence(bytes);
    default:
      return { size: 1, event: { kind: "escape" } };
  }
}

/** After a told escape the rest of a paste's opening may still come, late on a busy machine. */
function toldEscapeToken(bytes: Uint8Array): Token | null {
  if (startsWith(bytes, PASTE_START)) return { size: PASTE_START.length, opensPaste: true };
  return isBeginningOf(bytes, PASTE_START) ? null : { size: 1 };
}

function keyToken(bytes: Uint8Array): Token {
  const textEnd = bytes.findIndex((byte) => !isText(byte));
  const size = textEnd < 0 ? bytes.length : textEnd;
  if (size > 0) return { size, event: { kind: "text", bytes: bytes.subarray(0, size) } };
  const event = KEYS.get(bytes[0] ?? 0);
  return event === undefined ? { size: 1 } : { size: 1, event };
}

function nextToken(bytes: Uint8Array, escapeTold: boolean): Token | null {
  if (bytes[0] !== ESCAPE) return keyToken(bytes);
  return escapeTold ? toldEscapeToken(bytes) : escapeToken(bytes);
}

function readKeys(bytes: Uint8Array, escapeTold: boolean): InputStep & { readonly rest: Uint8Array } {
  const events: InputEvent[] = [];
  let rest = bytes;
  let told = escapeTold;
  while (rest.length > 0) {
    const token = nextToken(rest, told);
    if (token === null)
      return { state: { mode: "keys", held: rest, escapeTold: told }, events, rest: NOTHING };
    if (token.event) events.push(token.event);
    rest = rest.subarray(token.size);
    told = false;
    if (token.opensPaste) return { state: { ...INITIAL_INPUT, mode: "paste" }, events, rest };
  }
  return { state: INITIAL_INPUT, events, rest };
}

/** How many last bytes may be the beginning of the end of a paste. */
function heldAtEnd(bytes: Uint8Array): number {
  const longest = Math.min(bytes.length, PASTE_END.length - 1);
  for (let size = longest; size > 0; size -= 1) {
    if (isBeginningOf(bytes.subarray(bytes.length - size), PASTE_END)) return size;
  }
  return 0;
}

function text(bytes: Uint8Array): readonly InputEvent[] {
  return bytes.length === 0 ? [] : [{ kind: "text", bytes }];
}

function readPaste(bytes: Uint8Array): InputStep & { readonly rest: Uint8Array } {
  const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(PASTE_END);
  if (end >= 0) {
    const rest = bytes.subarray(end + PASTE_END.length);
    return { state: INITIAL_INPUT, events: text(bytes.subarray(0, end)), rest };
  }
  const whole = bytes.length - heldAtEnd(bytes);
  const state: InputState = { mode: "paste", held: bytes.subarray(whole), escapeTold: false };
  return { state, events: text(bytes.subarray(0, whole)), rest: NOTHING };
}

/**
 * Reads the next bytes of a terminal in raw mode with bracketed paste. Pure.
 *
 * Bytes may be cut anywhere. What is inside of a paste is text whatever it holds; adjacent pastes give
 * adjacent texts. Sequences of unused keys are dropped.
 */
export function readInput(state: InputState, chunk: Uint8Array): InputStep {
  const events: InputEvent[] = [];
  let current = state;
  let rest: Uint8Array = state.held.length === 0 ? chunk : Buffer.concat([state.held, chunk]);
  while (rest.length > 0) {
    const step = current.mode === "paste" ? readPaste(rest) : readKeys(rest, current.escapeTold);
    events.push(...step.events);
    current = step.state;
    rest = step.rest;
  }
  return { state: current, events };
}

/** Whether the last byte may be the escape key or the beginning of a sequence; only time tells. */
export function isEscapePending(state: InputState): boolean {
  return state.mode === "keys" && state.held.length === 1 && !state.escapeTold;
}

/** Takes a pending escape byte as the escape key, after nothing followed it for a while. */
export function tellEscape(state: InputState): InputStep {
  if (!isEscapePending(state)) return { state, events: [] };
  return { state: { ...state, escapeTold: true }, events: [{ kind: "escape" }] };
}
