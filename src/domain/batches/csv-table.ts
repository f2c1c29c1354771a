import { type CsvRecord, csvRecords } from "./csv-records.ts";
import { type FileFault, type FileFormat, FileRefusal } from "./file-fault.ts";

/** Number of leading bytes that show the format of a file. */
const HEAD_BYTES = 2_048;

const ZIP = "PK\u0003\u0004";
const OPEN_DOCUMENT = "application/vnd.oasis.opendocument.spreadsheet";

/**
 * Formats by their first bytes, read as Latin-1. A format whose bytes also match a more general one precedes it.
 */
const FORMATS: readonly (readonly [format: FileFormat, test: (head: string) => boolean])[] = [
  ["pdf", startsWith("%PDF-")],
  ["ods", (head) => head.startsWith(ZIP) && head.includes(OPEN_DOCUMENT)],
  ["xlsx", (head) => head.startsWith(ZIP) && /\[Content_Types\]\.xml|_rels\/|xl\/|docProps\//.test(head)],
  ["zip", startsWith(ZIP)],
  ["gzip", startsWith("\u001f\u008b")],
  ["xls", startsWith("\u00d0\u00cf\u0011\u00e0")],
  ["rtf", startsWith("{\\rtf")],
  ["markup", (head) => /^(?:\u00ef\u00bb\u00bf)?\s*<(?:!doctype|html|\?xml)/i.test(head)],
  ["json", (head) => /^(?:\u00ef\u00bb\u00bf)?\s*[{[]/.test(head)],
];

/**
 * The records of a CSV file whose first row is a header.
 * @param chunks bytes of the file, split at any point
 * @throws {FileRefusal} the file has another format, no header or, after all records, no row below it
 */
export async function* csvTable(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRecord> {
  let records = 0;
  for await (const record of csvRecords(assertCsv(chunks))) {
    if (records === 0) assertHeader(record);
    records++;
    yield record;
  }
  if (records === 0) throw new FileRefusal({ code: "empty" });
  if (records === 1) throw new FileRefusal({ code: "no_rows" });
}

/** The same chunks, once their first bytes look like text. @throws {FileRefusal} */
async function* assertCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const pending: Uint8Array[] = [];
  let size = 0;
  let isChecked = false;
  for await (const chunk of chunks) {
    if (isChecked) yield chunk;
    else {
      pending.push(chunk);
      size += chunk.length;
      if (size < HEAD_BYTES) continue;
      isChecked = true;
      yield assertedHead(pending, size);
    }
  }
  if (!isChecked && size > 0) yield assertedHead(pending, size);
}

function assertedHead(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  const fault = formatFault(bytes.subarray(0, HEAD_BYTES));
  if (fault !== undefined) throw new FileRefusal(fault);
  return bytes;
}

function assertHeader(record: CsvRecord): void {
  if (!("fault" in record)) return;
  const { row, fault } = record;
  throw new FileRefusal({ code: "header_unreadable", row, fault });
}

/** The reason why a file is not CSV; undefined if it may be. @param head its first bytes */
function formatFault(head: Uint8Array): FileFault | undefined {
  let text = "";
  for (const byte of head) text += String.fromCharCode(byte);
  if (/^(?:\u00ff\u00fe|\u00fe\u00ff)/.test(text)) return { code: "utf16" };
  const [format] = FORMATS.find(([, test]) => test(text)) ?? [];
  if (format) return { code: "format", format };
  return text.includes("\0") ? { code: "not_text" } : undefined;
}

function startsWith(start: string): (head: string) => boolean {
  return (head) => head.startsWith(start);
}
