/** Number of leading bytes that show the format of a file. */
export const HEAD_BYTES = 2_048;

const ZIP = "PK\u0003\u0004";
const OPEN_DOCUMENT = "application/vnd.oasis.opendocument.spreadsheet";

/**
 * Formats by their first bytes, read as Latin-1, with the fix. A format whose bytes also match a more general one
 * precedes it.
 */
const FORMATS: readonly (readonly [test: (head: string) => boolean, format: string, fix: string])[] = [
  [startsWith("%PDF-"), "a PDF", "export it as CSV"],
  [(head) => head.startsWith(ZIP) && head.includes(OPEN_DOCUMENT), "a spreadsheet (ODS)", "save it as CSV"],
  [
    (head) => head.startsWith(ZIP) && /\[Content_Types\]\.xml|_rels\/|xl\/|docProps\//.test(head),
    "an Excel workbook (XLSX)",
    "save it as CSV UTF-8",
  ],
  [startsWith(ZIP), "a ZIP archive", "unpack it and choose the CSV file in it"],
  [startsWith("\u001f\u008b"), "compressed (gzip)", "unpack it first"],
  [startsWith("\u00d0\u00cf\u0011\u00e0"), "an old Excel workbook (XLS)", "save it as CSV"],
  [startsWith("{\\rtf"), "a text document (RTF)", "save it as CSV"],
  [(head) => /^(?:\u00ef\u00bb\u00bf)?\s*<(?:!doctype|html|\?xml)/i.test(head), "HTML or XML", "export it as CSV"],
  [
    (head) => /^(?:\u00ef\u00bb\u00bf)?\s*[{[]/.test(head),
    "JSON",
    "send it as application/json, or one object per line as application/x-ndjson",
  ],
];

/** The reason why a file is not CSV, with the fix; undefined if it may be. @param head its first bytes */
export function formatFault(head: Uint8Array): string | undefined {
  let text = "";
  for (const byte of head) text += String.fromCharCode(byte);
  if (/^(?:\u00ff\u00fe|\u00fe\u00ff)/.test(text)) return "the file is text in UTF-16: save it as CSV in UTF-8";
  const format = FORMATS.find(([test]) => test(text));
  if (format) return `the file is ${format[1]}, not a CSV file: ${format[2]}`;
  if (text.includes("\0"))
    return "the file is not text in UTF-8 or Windows-1252 (UTF-16, or a spreadsheet?): save it as CSV in UTF-8";
  return undefined;
}

function startsWith(start: string): (head: string) => boolean {
  return (head) => head.startsWith(start);
}
