import { errorText } from "../../base/error.ts";
import { isObject } from "../input/input-checks.ts";
import { plainNumber } from "../numbers/phone-number.ts";
import type { TargetFault } from "./batch.ts";
import type { TargetInput } from "./batch-input.ts";
import { assertVariables, type CsvColumns, fileColumnsOf, meaningsOf } from "./column-meanings.ts";
import { MAX_RECORD_BYTES } from "./csv-records.ts";
import { csvTable } from "./csv-table.ts";
import { recordFaultText } from "./file-fault.ts";
import { type ColumnMeaning, withoutApostrophe } from "./target-csv.ts";

/** A row of an import, before it is checked. */
export type TargetRow =
  | {
      readonly row: number;
      readonly input: TargetInput;
      /** Column of the file for each field and variable whose name differs from it. */
      readonly columns?: Readonly<Record<string, string>> | undefined;
    }
  /** A row that could not be read; `text`: as it was sent, at most 1,000 characters. */
  | { readonly row: number; readonly text: string; readonly fault: TargetFault };

/**
 * The targets of a CSV file with a header row, as its bytes arrive. A column without another meaning is a variable. Row
 * 1 is the header.
 * @throws {FileRefusal} as {@link csvTable} and {@link meaningsOf}, or no column has a variable of the message
 */
export async function* csvTargets(
  chunks: AsyncIterable<Uint8Array>,
  columns: CsvColumns = {},
): AsyncGenerator<TargetRow> {
  let meanings: readonly ColumnMeaning[] | undefined;
  let fileColumns: Readonly<Record<string, string>> = {};
  for await (const record of csvTable(chunks)) {
    if ("fault" in record) {
      const { row, text, fault } = record;
      yield { row, text, fault: { column: "", code: "value_invalid", detail: recordFaultText(fault) } };
    } else if (meanings === undefined) {
      meanings = meaningsOf(record.cells, columns);
      assertVariables(record.cells, meanings, columns.variables);
      fileColumns = fileColumnsOf(record.cells, meanings);
    } else yield targetOf(record.row, record.cells, meanings, fileColumns);
  }
}

/** The targets of newline-delimited JSON, one object per line. */
export async function* ndjsonTargets(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TargetRow> {
  let row = 0;
  for await (const line of textLines(chunks)) {
    row++;
    if (line.trim() === "") continue;
    const text = line.slice(0, 1_000);
    const fault = (detail: string): TargetRow => ({ row, text, fault: { column: "", code: "invalid_json", detail } });
    if (line.length > MAX_RECORD_BYTES) {
      yield fault(`the line is longer than ${MAX_RECORD_BYTES} characters`);
      continue;
    }
    try {
      const input = JSON.parse(line) as TargetInput;
      yield isObject(input) ? { row, input } : fault("each line must be a JSON object");
    } catch (error) {
      yield fault(`the line is not JSON: ${errorText(error)}`);
    }
  }
}

function targetOf(
  row: number,
  cells: readonly string[],
  meanings: readonly ColumnMeaning[],
  columns: Readonly<Record<string, string>>,
): TargetRow {
  const extra = cells.slice(meanings.length).findIndex((cell) => cell.trim() !== "");
  if (extra >= 0) {
    const detail = `the row has ${cells.length} cells, and the header ${meanings.length}: put quotes around a cell that contains the delimiter, or name each column in the header`;
    return { row, text: cells.join(",").slice(0, 1_000), fault: { column: "", code: "value_invalid", detail } };
  }
  const variables: Record<string, string> = {};
  const input: { -readonly [Field in keyof TargetInput]: TargetInput[Field] } = { phoneNumber: "" };
  meanings.forEach((meaning, index) => {
    const cell = withoutApostrophe((cells[index] ?? "").trim());
    if (meaning.kind === "phone") input.phoneNumber = plainNumber(cell);
    else if (cell === "" || meaning.kind === "none") return;
    else if (meaning.kind === "variable") variables[meaning.name] = cell;
    else input[meaning.kind] = cell;
  });
  if (Object.keys(variables).length > 0) input.variables = variables;
  return { row, input, columns };
}

/** Lines of UTF-8 text; the rest of a line that is too long is skipped. */
async function* textLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = (lines.pop() ?? "").slice(0, MAX_RECORD_BYTES + 1);
    yield* lines;
  }
  yield rest + decoder.decode();
}
