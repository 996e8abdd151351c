/** The message that is being typed or pasted. */
export interface Draft {
  append(bytes: Uint8Array): void;
  /** Takes the last character away. */
  backspace(): void;
  clear(): void;
  isEmpty(): boolean;
  /** Gives the whole text, decoded once so that a character cut in two by a read stays whole, and clears. */
  take(): string;
  /** What stands at the input line: the text, or only its size when it is long or has several lines. */
  view(): string;
}

const LINE_FEED = 0x0a;
const LONGEST_SHOWN_BYTES = 2048;

/** Index of the last byte that begins a character of UTF-8. */
function lastCharacterStart(bytes: Uint8Array): number {
  let index = bytes.length - 1;
  while (index > 0 && ((bytes[index] ?? 0) & 0xc0) === 0x80) index -= 1;
  return Math.max(index, 0);
}

function countLineFeeds(bytes: Uint8Array): number {
  return bytes.reduce((count, byte) => (byte === LINE_FEED ? count + 1 : count), 0);
}

/** An empty draft. Its cost grows with what is added, not with what is there. */
export function createDraft(): Draft {
  let pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  let lineFeeds = 0;

  const clear = () => {
    pieces = [];
    sizeBytes = 0;
    lineFeeds = 0;
  };
  const append = (bytes: Uint8Array) => {
    pieces.push(bytes);
    sizeBytes += bytes.length;
    lineFeeds += countLineFeeds(bytes);
  };
  const whole = () => Buffer.concat(pieces);

  return {
    append,
    clear,
    backspace: () => {
      const bytes = whole();
      clear();
      if (bytes.length > 0) append(bytes.subarray(0, lastCharacterStart(bytes)));
    },
    isEmpty: () => sizeBytes === 0,
    take: () => {
      const text = whole().toString("utf8");
      clear();
      return text;
    },
    view: () =>
      lineFeeds > 0 || sizeBytes > LONGEST_SHOWN_BYTES
        ? `[${lineFeeds + 1} lines, ${sizeBytes} bytes]`
        : whole().toString("utf8"),
  };
}
