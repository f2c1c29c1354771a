import { isWatched, paint, print, withoutColours } from "./terminal.ts";

/** Rows as lines, indented by two, with columns below each other. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const width = (column: number): number => Math.max(...rows.map((row) => shownLength(row[column] ?? "")));
  const widths = (rows[0] ?? []).map((_, column) => width(column));
  const padded = (cell: string, column: number): string =>
    cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - shownLength(cell)));
  return rows.map((row) => `  ${row.map(padded).join("  ")}`.trimEnd());
}

/** A table for a person; for a program one line a row, its cells apart by tabs and without a head. */
export function printRows(head: readonly string[], rows: readonly (readonly string[])[]): void {
  if (!isWatched()) for (const row of rows) print(row.map(inOneCell).join("\t"));
  else for (const row of table([head.map((cell) => paint(2, cell)), ...rows])) print(row.trim());
}

/** Foreign text controls neither the terminal nor the columns. */
export function inOneCell(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replace(/[\x00-\x1f\x7f-\x9f]+/g, " ");
}

function shownLength(cell: string): number {
  return [...withoutColours(cell)].length;
}
