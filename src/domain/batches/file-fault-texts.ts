/** Messages about the faults of a file in one language, by code. */
export interface FileFaultTexts {
  readonly format: Readonly<
    Record<"pdf" | "ods" | "xlsx" | "zip" | "gzip" | "xls" | "rtf" | "markup" | "json", string>
  >;
  readonly utf16: string;
  readonly not_text: string;
  readonly empty: string;
  readonly no_rows: string;
  readonly row: (row: number) => string;
  readonly quote_open: string;
  readonly row_too_long: (maxBytes: number) => string;
  readonly byte_unknown: (byte: string) => string;
  readonly too_many_cells: (cells: number, maxCells: number) => string;
  /** Uses of columns. */
  readonly numbers: string;
  readonly references: string;
  readonly variable: (name: string) => string;
  readonly numbers_missing: (columns: string) => string;
  readonly numbers_ambiguous: (names: string) => string;
  readonly numbers_repeated: (name: string) => string;
  readonly column_missing: (name: string, use: string, columns: string) => string;
  readonly column_repeated: (name: string, use: string) => string;
  readonly column_taken: (name: string, otherUse: string, use: string) => string;
  readonly variable_repeated: (name: string) => string;
  readonly variables_missing: (placeholders: string, columns: string, first: string) => string;
}

/** The English messages. */
export const FILE_FAULT_TEXTS = {
  format: {
    pdf: "the file is a PDF, not a CSV file: export it as CSV",
    ods: "the file is a spreadsheet (ODS), not a CSV file: save it as CSV",
    xlsx: "the file is an Excel workbook (XLSX), not a CSV file: save it as CSV UTF-8",
    zip: "the file is a ZIP archive, not a CSV file: unpack it and choose the CSV file in it",
    gzip: "the file is compressed (gzip), not a CSV file: unpack it first",
    xls: "the file is an old Excel workbook (XLS), not a CSV file: save it as CSV",
    rtf: "the file is a text document (RTF), not a CSV file: save it as CSV",
    markup: "the file is HTML or XML, not a CSV file: export it as CSV",
    json: "the file is JSON, not a CSV file: send it as application/json, or one object per line as application/x-ndjson",
  },
  utf16: "the file is text in UTF-16: save it as CSV in UTF-8",
  not_text: "the file is not text in UTF-8 or Windows-1252 (UTF-16, or a spreadsheet?): save it as CSV in UTF-8",
  empty: "the file is empty; its first row must name the columns, such as phone,name",
  no_rows: "the file has no rows below its header: add one for each person to call",
  row: (row) => `row ${row}`,
  quote_open: 'a quote is never closed: add the second ", or write "" for a quote within a cell',
  row_too_long: (maxBytes) => `the row is longer than ${maxBytes} bytes: shorten its cells`,
  byte_unknown: (byte) => `the byte ${byte} is not a character in UTF-8 or Windows-1252: save the file as CSV in UTF-8`,
  too_many_cells: (cells, maxCells) => `the row has ${cells} cells, at most ${maxCells} are allowed`,
  numbers: "the numbers",
  references: "the references",
  variable: (name) => `the variable ${name}`,
  numbers_missing: (columns) =>
    `no column has the phone numbers; the columns are ${columns}: name one of them phone, or choose it with phone_column`,
  numbers_ambiguous: (names) => `the columns ${names} may both have the phone numbers: choose one with phone_column`,
  numbers_repeated: (name) => `two columns are named "${name}": rename the one without the numbers to call`,
  column_missing: (name, use, columns) => `there is no column "${name}" for ${use}; the columns are ${columns}`,
  column_repeated: (name, use) => `two columns are named "${name}": rename the one that is not for ${use}`,
  column_taken: (name, otherUse, use) => `the column "${name}" has ${otherUse}, so it cannot be the column of ${use}`,
  variable_repeated: (name) => `two columns are named "${name}": rename the one that the message does not need`,
  variables_missing: (placeholders, columns, first) =>
    `the message needs ${placeholders}, and no column has that name; the columns are ${columns}: name one of them "${first}", or choose it with variable_columns`,
} as const satisfies FileFaultTexts;

/** Names in quotes; the first 20, each shortened. */
export function namesText(names: readonly string[]): string {
  return names
    .slice(0, 20)
    .map((name) => `"${name.slice(0, 40)}"`)
    .join(", ");
}
