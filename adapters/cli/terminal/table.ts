import type { ParsedLine } from "../command.ts";
import { isTerminal, paint, print, printJson, printToStderr, terminalColumns } from "./terminal.ts";
import { columnsOf, shortenedRow, wrapped } from "./wrapped.ts";

/** A column of a list. */
export interface ListColumn {
  readonly head: string;
  /** Order in which columns are dropped on a narrow terminal, highest first. Default: never dropped. */
  readonly dropOrder?: number;
  /** True if cells may be cut when the terminal is still too narrow. Default: false. */
  readonly cut?: boolean;
  /** Colours a cell. Default: no colour. */
  readonly paint?: (cell: string) => string;
}

const GAP = 2;
/** Minimum width of the last column next to the others; a narrower one is printed below them. */
const MIN_TEXT_WIDTH = 28;
/** Minimum width of a cut cell. */
const MIN_CELL_WIDTH = 8;

/**
 * Rows as lines, indented by two, with aligned columns.
 * @param width maximum line width; the last column is wrapped to fit. Default: no limit
 */
export function table(rows: readonly (readonly string[])[], width = Number.POSITIVE_INFINITY): string[] {
  const widths = widthsOf(rows);
  const indentWidth = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP, GAP);
  const fitsInline = width - indentWidth >= MIN_TEXT_WIDTH || indentWidth + (widths.at(-1) ?? 0) <= width;
  const indent = " ".repeat(fitsInline ? indentWidth : 3 * GAP);
  return rows.flatMap((row) => {
    if (width === Number.POSITIVE_INFINITY) return [`  ${padRow(row, widths)}`.trimEnd()];
    const before = `  ${padRow(row.slice(0, -1), widths)}`;
    const lines = wrapped(row.at(-1) ?? "", width - indent.length);
    const continuation = (fitsInline ? lines.slice(1) : lines).map((line) => indent + line);
    return [
      fitsInline ? `${before}${row.length > 1 ? "  " : ""}${lines[0]}`.trimEnd() : before.trimEnd(),
      ...continuation,
    ];
  });
}

/**
 * Prints a table as wide as the terminal. Without a terminal, prints one line per row with all cells separated by tabs,
 * and no header.
 */
export function printRows(columns: readonly ListColumn[], rows: readonly (readonly string[])[]): void {
  if (!isTerminal()) for (const row of rows) print(row.map(inOneCell).join("\t"));
  else for (const line of fitTable(columns, rows, terminalColumns())) print(line);
}

/** Prints a list of records: as JSON with `--json`, otherwise as a table; the text `none` if the list is empty. */
export function printList<Rec>(
  { values }: ParsedLine,
  records: readonly Rec[],
  list: { readonly none: string; readonly columns: readonly ListColumn[]; cells(record: Rec): readonly string[] },
): void {
  if (values.get("json")) printJson(records);
  else if (records.length === 0) printToStderr(list.none);
  else
    printRows(
      list.columns,
      records.map((record) => list.cells(record)),
    );
}

/**
 * Fits a table into this width: drops columns, then cuts cells; if that is not enough, long names in the first column
 * get their own line. A last line names the dropped columns.
 */
export function fitTable(
  columns: readonly ListColumn[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly string[] {
  const cells = [columns.map(({ head }) => head), ...rows.map((row) => row.map(inOneCell))];
  const widths = widthsOf(cells);
  const columnIndexes = new Set(columns.keys());
  const total = (): number => [...columnIndexes].reduce((sum, i) => sum + (widths[i] ?? 0) + GAP, -GAP);
  const optionalIndexes = [...columnIndexes].filter((i) => columns[i]?.dropOrder !== undefined);
  optionalIndexes.sort((a, b) => (columns[b]?.dropOrder ?? 0) - (columns[a]?.dropOrder ?? 0));
  for (const i of optionalIndexes) if (total() > width) columnIndexes.delete(i);
  const indexes = [...columnIndexes];
  const [nameIndex = 0, ...otherIndexes] = indexes;
  const nameWidth = widths[nameIndex] ?? 0;
  const cuttable = indexes.filter((i) => columns[i]?.cut).map((i) => Math.max(0, (widths[i] ?? 0) - MIN_CELL_WIDTH));
  const isTooWide = total() - cuttable.reduce((sum, width) => sum + width, 0) > width;
  if (isTooWide && otherIndexes.length > 0) widths[nameIndex] = Math.max(MIN_CELL_WIDTH, nameWidth - (total() - width));
  for (const i of indexes) {
    const excess = total() - width;
    if (excess > 0 && columns[i]?.cut) widths[i] = Math.max(MIN_CELL_WIDTH, (widths[i] ?? 0) - excess);
  }
  const cellWidths = indexes.map((i) => widths[i] ?? 0);
  const lines = cells.flatMap((row, rowIndex) => {
    const [name = "", ...others] = indexes.map((i) => {
      const cell = i === nameIndex && !columns[i]?.cut ? (row[i] ?? "") : shortenedRow(row[i] ?? "", widths[i] ?? 0);
      return rowIndex === 0 ? paint(2, cell) : (columns[i]?.paint?.(cell) ?? cell);
    });
    if (columnsOf(name) <= (widths[nameIndex] ?? 0)) return [padRow([name, ...others], cellWidths).trimEnd()];
    const rest = padRow(["", ...others], cellWidths).trimEnd();
    return rest === "" ? [name] : [name, rest];
  });
  const droppedHeads = columns.filter((_, i) => !columnIndexes.has(i)).map(({ head }) => head);
  if (droppedHeads.length === 0) return lines;
  return [
    ...lines,
    ...wrapped(`Not shown on this narrow terminal: ${droppedHeads.join(", ")}; use --json for all columns.`, width),
  ];
}

/** Untrusted text must not control the terminal or break the columns. */
export function inOneCell(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are removed
  return text.replace(/[\x00-\x1f\x7f-\x9f]+/g, " ");
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  return (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => columnsOf(row[column] ?? ""))));
}

function padRow(row: readonly string[], widths: readonly number[]): string {
  return row.map((cell, i) => cell + " ".repeat(Math.max(0, (widths[i] ?? 0) - columnsOf(cell)))).join("  ");
}
