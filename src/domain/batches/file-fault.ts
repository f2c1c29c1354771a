import { Refusal } from "../refusal.ts";
import { FILE_FAULT_TEXTS, type FileFaultTexts, namesText } from "./file-fault-texts.ts";

/** Formats other than CSV. */
export type FileFormat = keyof FileFaultTexts["format"];

/** Use of a column that was chosen. */
export type ColumnUse = { readonly field: "numbers" | "references" } | { readonly variable: string };

/** The reason why a record of a CSV file cannot be read. */
export type RecordFault =
  | { readonly code: "quote_open" }
  | { readonly code: "row_too_long"; readonly maxBytes: number }
  | { readonly code: "byte_unknown"; readonly byte: number }
  | { readonly code: "too_many_cells"; readonly cells: number; readonly maxCells: number };

/** The reason why a file of targets is refused as a whole. `columns`: all names of its header. */
export type FileFault =
  | { readonly code: "format"; readonly format: FileFormat }
  | { readonly code: "utf16" | "not_text" | "empty" | "no_rows" }
  | { readonly code: "header_unreadable"; readonly row: number; readonly fault: RecordFault }
  | { readonly code: "numbers_missing"; readonly columns: readonly string[] }
  | { readonly code: "numbers_ambiguous"; readonly names: readonly [string, string] }
  | { readonly code: "numbers_repeated"; readonly name: string }
  | {
      readonly code: "column_missing";
      readonly name: string;
      readonly use: ColumnUse;
      readonly columns: readonly string[];
    }
  | { readonly code: "column_repeated"; readonly name: string; readonly use: ColumnUse }
  | { readonly code: "column_taken"; readonly name: string; readonly by: ColumnUse; readonly variable: string }
  | { readonly code: "variable_repeated"; readonly variable: string }
  | { readonly code: "variables_missing"; readonly variables: readonly string[]; readonly columns: readonly string[] };

/** Codes of file faults. */
export type FileFaultCode = FileFault["code"];

/** The refusal of a file as a whole. */
export class FileRefusal extends Refusal {
  readonly fault: FileFault;

  constructor(fault: FileFault) {
    const detail = fileFaultText(fault, FILE_FAULT_TEXTS);
    super("invalid_request", `body: ${detail}`, { errors: [{ pointer: "", code: "value_invalid", detail }] });
    this.fault = fault;
  }
}

/** The text of a file's fault: a sentence that begins in lower case, without a full stop. */
export function fileFaultText(fault: FileFault, texts: FileFaultTexts): string {
  const useText = (use: ColumnUse): string => ("field" in use ? texts[use.field] : texts.variable(use.variable));
  switch (fault.code) {
    case "format":
      return texts.format[fault.format];
    case "header_unreadable":
      return `${texts.row(fault.row)}: ${recordFaultText(fault.fault, texts)}`;
    case "numbers_missing":
      return texts.numbers_missing(namesText(fault.columns));
    case "numbers_ambiguous":
      return texts.numbers_ambiguous(namesText(fault.names));
    case "numbers_repeated":
      return texts.numbers_repeated(fault.name);
    case "column_missing":
      return texts.column_missing(fault.name, useText(fault.use), namesText(fault.columns));
    case "column_repeated":
      return texts.column_repeated(fault.name, useText(fault.use));
    case "column_taken":
      return texts.column_taken(fault.name, useText(fault.by), texts.variable(fault.variable));
    case "variable_repeated":
      return texts.variable_repeated(fault.variable);
    case "variables_missing":
      return texts.variables_missing(
        fault.variables.map((name) => `{{${name}}}`).join(", "),
        namesText(fault.columns),
        fault.variables[0] ?? "",
      );
    default:
      return texts[fault.code];
  }
}

/** The text of a record's fault, as {@link fileFaultText}. */
export function recordFaultText(fault: RecordFault, texts: FileFaultTexts = FILE_FAULT_TEXTS): string {
  switch (fault.code) {
    case "quote_open":
      return texts.quote_open;
    case "row_too_long":
      return texts.row_too_long(fault.maxBytes);
    case "byte_unknown":
      return texts.byte_unknown(`0x${fault.byte.toString(16)}`);
    case "too_many_cells":
      return texts.too_many_cells(fault.cells, fault.maxCells);
  }
}
