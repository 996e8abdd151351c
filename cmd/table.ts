import type { Color, Paint } from "./color.ts";
import { type TextWidth, textWidthFor } from "./text-width.ts";

/** A cell's text, or its text with a colour. */
export type Cell = string | { readonly text: string; readonly color: Color };

export interface TableOptions {
  readonly header: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly paint: Paint;
  /**
   * Columns of the terminal; the widest cells of a row are cut until it fits, those of the first column never.
   * `undefined` cuts nothing.
   */
  readonly width: number | undefined;
}

const GAP = "  ";
/** Less of a cell says nothing. */
const LEAST_COLUMN = 12;
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

/** The column to cut next: the widest that may be cut, of equal ones the last; -1 when there is none. */
function widestOf(widths: readonly number[]): number {
  const widest = Math.max(LEAST_COLUMN, ...widths.slice(1));
  return widest === LEAST_COLUMN ? -1 : widths.lastIndexOf(widest);
}

function fitted(natural: readonly number[], width: number | undefined): readonly number[] {
  const widths = [...natural];
  const gaps = GAP.length * (widths.length - 1);
  let excess = width === undefined ? 0 : widths.reduce((sum, each) => sum + each, gaps) - width;
  for (let column = widestOf(widths); excess > 0 && column > 0; column = widestOf(widths)) {
    widths[column] = (widths[column] ?? 0) - 1;
    excess -= 1;
  }
  return widths;
}

/** Aligned columns under a header, one line a row, wide letters counted as the terminal draws them. */
export async function table({ header, rows, paint, width }: TableOptions): Promise<readonly string[]> {
  const widthOf = await textWidthFor([...header, ...rows.flat().map(textOf)]);
  const natural = header.map((title, column) =>
    rows.reduce((widest, row) => Math.max(widest, widthOf(textOf(row[column] ?? ""))), widthOf(title)),
  );
  const widths = fitted(natural, width);

  const line = (cells: readonly Cell[]): string =>
    cells
      .map((cell, column) => {
        const room = widths[column] ?? 0;
        const text = cutTo(textOf(cell), room, widthOf);
        return (typeof cell === "string" ? text : paint(cell.color, text)) + " ".repeat(room - widthOf(text));
      })
      .join(GAP)
      .trimEnd();
  return [line(header.map((text) => ({ text, color: "dim" }))), ...rows.map(line)];
}
