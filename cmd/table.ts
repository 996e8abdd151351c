import stringWidth from "string-width";
import type { Color, Paint } from "./color.ts";

/** A cell's text, or its text with a colour. */
export type Cell = string | { readonly text: string; readonly color: Color };

export interface TableOptions {
  readonly header: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly paint: Paint;
  /** Columns of the terminal; the last cell of a row is cut to fit. `undefined` cuts nothing. */
  readonly width: number | undefined;
}

const GAP = "  ";
const textOf = (cell: Cell): string => (typeof cell === "string" ? cell : cell.text);

/** The longest beginning of `text` that fits in `width` columns, with an ellipsis when it was cut. */
function cutTo(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Aligned columns under a header, one line a row, wide letters counted as the terminal draws them. */
export function table({ header, rows, paint, width }: TableOptions): readonly string[] {
  const widths = header.map((title, column) =>
    Math.max(stringWidth(title), ...rows.map((row) => stringWidth(textOf(row[column] ?? "")))),
  );
  const last = header.length - 1;
  const before = widths.slice(0, last).reduce((sum, each) => sum + each + GAP.length, 0);
  const room = width === undefined ? Number.POSITIVE_INFINITY : Math.max(width - before, 12);

  const line = (cells: readonly Cell[]): string =>
    cells
      .map((cell, column) => {
        const text = column === last ? cutTo(textOf(cell), room) : textOf(cell);
        const padding = column === last ? "" : " ".repeat((widths[column] ?? 0) - stringWidth(text));
        return (typeof cell === "string" ? text : paint(cell.color, text)) + padding;
      })
      .join(GAP)
      .trimEnd();
  return [line(header.map((text) => ({ text, color: "dim" }))), ...rows.map(line)];
}
