import { invalidInput, type Refusal } from "../refusal.ts";
import { type CsvRecord, csvRecords } from "./csv-records.ts";
import { formatFault, HEAD_BYTES } from "./file-format.ts";

/**
 * The records of a CSV file with a header row, which is the first one.
 * @param chunks bytes of the file, cut anywhere
 * @throws {Refusal} `invalid_request`: the file has another format, no header or, after all records, no row below it
 */
export async function* csvTable(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRecord> {
  let records = 0;
  for await (const record of csvRecords(assertCsv(chunks))) {
    if (records === 0) assertHeader(record);
    records++;
    yield record;
  }
  if (records === 0) throw fileFault("the file is empty; its first row must name the columns, such as phone,name");
  if (records === 1) throw fileFault("the file has no rows below its header: add one for each person to call");
}

/** The refusal of a file as a whole. */
export function fileFault(detail: string): Refusal {
  return invalidInput([{ pointer: "", code: "value_invalid", detail }]);
}

/** The same chunks, once their first bytes look like text. @throws {Refusal} */
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
  if (fault !== undefined) throw fileFault(fault);
  return bytes;
}

function assertHeader(record: CsvRecord): void {
  if ("fault" in record) throw fileFault(`row ${record.row}: ${record.fault}`);
}
