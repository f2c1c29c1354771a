import { meaningsOf, phoneColumnsOf } from "../../../../../src/domain/batches/column-meanings.ts";
import { type CsvRecord, csvRecords } from "../../../../../src/domain/batches/csv-records.ts";
import { csvTable } from "../../../../../src/domain/batches/csv-table.ts";
import { type FileFault, FileRefusal } from "../../../../../src/domain/batches/file-fault.ts";
import type { ColumnMeaning } from "../../../../../src/domain/batches/target-csv.ts";
import { PHONE_NUMBER, plainNumber } from "../../../../../src/domain/numbers/phone-number.ts";

/** Number of rows in a preview, not counting the header. */
const PREVIEW_ROWS = 5;
/** Number of bytes read for a preview. */
const PREVIEW_BYTES = 512 << 10;

/** The first rows of a file. */
export interface CsvPreview {
  readonly header: readonly string[];
  readonly rows: readonly { readonly row: number; readonly cells: readonly string[] }[];
}

/** Names of the columns with the numbers, the references and the variables; undefined for the usual names. */
export interface ColumnChoice {
  readonly phone?: string | undefined;
  readonly reference?: string | undefined;
  readonly variableColumns?: Readonly<Record<string, string>> | undefined;
}

/**
 * The first rows of a file.
 * @throws {FileRefusal} the file is not a table with rows
 */
export async function csvPreview(file: Blob): Promise<CsvPreview> {
  return previewOf(csvTable(firstBytes(file)));
}

async function previewOf(records: AsyncIterable<CsvRecord>): Promise<CsvPreview> {
  let header: readonly string[] | undefined;
  const rows: { row: number; cells: readonly string[] }[] = [];
  for await (const record of records)
    if (header === undefined) header = "cells" in record ? record.cells : [];
    else if ("cells" in record && rows.push(record) === PREVIEW_ROWS) break;
  return { header: header ?? [], rows };
}

/** The file with a header row. A header is added if the first row is a person's: a pasted list of numbers has none. */
export async function withHeader(file: Blob): Promise<Blob> {
  const preview = await previewOf(csvRecords(firstBytes(file)));
  const phone = preview.header.findIndex(isNumber);
  if (phone < 0) return file;
  const bytes = new Uint8Array(await file.slice(0, PREVIEW_BYTES).arrayBuffer());
  const [line = ""] = new TextDecoder().decode(bytes).split("\n");
  const delimiter = [";", "\t"].find((mark) => line.includes(mark)) ?? ",";
  const names = preview.header.map((_, index) => (index === phone ? "phone" : `column_${index + 1}`));
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return new Blob([`${names.join(delimiter)}\n`, hasMark ? file.slice(3) : file]);
}

/**
 * The meaning of each column; undefined if no column has the numbers.
 * @param variables variables of the message
 */
export function columnMeanings(
  { header, rows }: CsvPreview,
  choice: ColumnChoice,
  variables: readonly string[],
): readonly ColumnMeaning[] | undefined {
  const meanings = (columns: ColumnChoice): readonly ColumnMeaning[] | undefined => {
    try {
      return meaningsOf(header, { ...columns, variables });
    } catch {
      return undefined;
    }
  };
  const knownMeanings = meanings(choice);
  if (knownMeanings || choice.phone !== undefined) return knownMeanings;
  const [guess] = phoneCandidates({ header, rows }, choice, variables);
  return guess === undefined ? undefined : meanings({ ...choice, phone: guess });
}

/** The fault in the column names; undefined if there is none, or if only the column with the numbers is missing. */
export function headerFault(
  preview: CsvPreview,
  choice: ColumnChoice,
  variables: readonly string[],
): FileFault | undefined {
  const phone = choice.phone ?? phoneCandidates(preview, choice, variables)[0];
  if (phone === undefined) return undefined;
  try {
    meaningsOf(preview.header, { ...choice, phone, variables });
    return undefined;
  } catch (error) {
    return fileFaultOf(error);
  }
}

/** The fault of a refused file; undefined for any other error. */
export function fileFaultOf(error: unknown): FileFault | undefined {
  return error instanceof FileRefusal ? error.fault : undefined;
}

/**
 * The columns that may have the numbers: those with a usual name, or else all; if the first rows show which of these
 * have numbers, only those.
 * @param variables variables of the message
 */
export function phoneCandidates(
  { header, rows }: CsvPreview,
  choice: ColumnChoice,
  variables: readonly string[],
): readonly string[] {
  const usualColumns = phoneColumnsOf(header, { ...choice, variables });
  const columns = usualColumns.length > 0 ? usualColumns : [...header.keys()];
  const columnsWithNumbers = columns.filter(
    (index) => rows.length > 0 && rows.every(({ cells }) => isNumber(cells[index] ?? "")),
  );
  const candidates = columnsWithNumbers.length > 0 ? columnsWithNumbers : usualColumns;
  return candidates.map((index) => header[index] ?? "");
}

/** The name of the column with a meaning; undefined if there is none. */
export function columnOf(
  { header }: CsvPreview,
  meanings: readonly ColumnMeaning[],
  kind: ColumnMeaning["kind"],
): string | undefined {
  return header[meanings.findIndex((meaning) => meaning.kind === kind)];
}

/** The name of a variable's column; undefined if there is none. */
export function columnOfVariable(
  { header }: CsvPreview,
  meanings: readonly ColumnMeaning[],
  variable: string,
): string | undefined {
  return header[meanings.findIndex((meaning) => meaning.kind === "variable" && meaning.name === variable)];
}

/** The variables in the message that have no column. */
export function missingVariables(meanings: readonly ColumnMeaning[], variables: readonly string[]): string[] {
  return variables.filter((name) => !meanings.some((meaning) => meaning.kind === "variable" && meaning.name === name));
}

function isNumber(cell: string): boolean {
  return PHONE_NUMBER.test(plainNumber(cell));
}

async function* firstBytes(file: Blob): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(await file.slice(0, PREVIEW_BYTES).arrayBuffer());
}
