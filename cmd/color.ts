import type { Io, Output } from "./io.ts";

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 } as const;
export type Color = keyof typeof CODES;

/** Colours a text, or leaves it as it is where colour is not wanted. */
export type Paint = (color: Color, text: string) => string;

interface ColorRequest {
  readonly env: Io["env"];
  readonly stream: Output;
  /** `--no-color` was given. */
  readonly off: boolean;
}

/** Colour goes to terminals; `--no-color`, `NO_COLOR` and `FORCE_COLOR` say otherwise, in this order. */
function hasColor({ env, stream, off }: ColorRequest): boolean {
  const force = env["FORCE_COLOR"];
  if (off || env["NO_COLOR"] || force === "0" || force === "false") return false;
  if (force !== undefined) return true;
  return stream.isTTY === true && env["TERM"] !== "dumb";
}

/** The painter for one stream. */
export function painter(request: ColorRequest): Paint {
  if (!hasColor(request)) return (_color, text) => text;
  return (color, text) => `\u001b[${CODES[color]}m${text}\u001b[0m`;
}
