/** How many columns of a terminal a text takes. */
export type TextWidth = (text: string) => number;

const PLAIN = /^[\x20-\x7e]*$/;

/**
 * The measure for these texts. Only letters beyond ASCII need the library for wide and combined ones, which
 * takes 20 ms to load.
 */
export async function textWidthFor(texts: readonly string[]): Promise<TextWidth> {
  if (texts.every((text) => PLAIN.test(text))) return (text) => text.length;
  const { default: stringWidth } = await import("string-width");
  return stringWidth;
}
