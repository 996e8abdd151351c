import type { Color, Paint } from "./color.ts";
import { type TextWidth, textWidthFor } from "./text-width.ts";

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
const LEAST_LAST_COLUMN = 12;
const textOf = (cell: Cell): string => (typeof cell === "string" ? cell : cell.text);

/** The longest beginning of `text` that fits in `room` columns, with an ellipsis when it was cut. */
function cutTo(text: string, room: number, widthOf: TextWidth): string {
  if (widthOf(text) <= room) return text;
  let kept = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (widthOf(kept + segment) > room - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

function roomForLast(widths: readonly number[], width: number | undefined): number {
  if (width === undefined) return Number.POSITIVE_INFINITY;
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + GAP.length, 0);
  return Math.max(width - before, LEAST_LAST_COLUMN);
}

/** Aligned columns under a header, one line a row, wide letters counted as the terminal draws them. */
export async function table({ header, rows, paint, width }: TableOptions): Promise<readonly string[]> {
  const widthOf = await textWidthFor([...header, ...rows.flat().map(textOf)]);
  const widths = header.map((title, column) =>
    Math.max(widthOf(title), ...rows.map((row) => widthOf(textOf(row[column] ?? "")))),
  );
  const last = header.length - 1;
  const room = roomForLast(widths, width);

  const line = (cells: readonly Cell[]): string =>
    cells
      .map((cell, column) => {
        const text = column === last ? cutTo(textOf(cell), room, widthOf) : textOf(cell);
        const padding = column === last ? "" : " ".repeat((widths[column] ?? 0) - widthOf(text));
        return (typeof cell === "string" ? text : paint(cell.color, text)) + padding;
      })
      .join(GAP)
      .trimEnd();
  return [line(header.map((text) => ({ text, color: "dim" }))), ...rows.map(line)];
}
