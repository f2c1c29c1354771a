import type { RecordFault } from "./file-fault.ts";

/** One record of a CSV file: its cells, or the reason why it cannot be read. */
export type CsvRecord =
  | { readonly row: number; readonly cells: readonly string[] }
  | { readonly row: number; readonly text: string; readonly fault: RecordFault };

/** Maximum size of a record, bytes: a larger one has an open quote, or the file is not a table. */
export const MAX_RECORD_BYTES: number = 64 << 10;
/** Maximum number of cells in a record. */
export const MAX_CELLS = 200;

const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;
/** Comma, semicolon and tab. */
const DELIMITERS: readonly number[] = [0x2c, 0x3b, 0x09];

const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const WINDOWS_1252 = new TextDecoder("windows-1252");

/**
 * The records of a CSV file (RFC 4180) as its bytes arrive, in bounded memory. The first record determines the file's
 * delimiter: comma, semicolon or tab. A record that is not UTF-8 is read as Windows-1252. A record with a fault, such
 * as a quote that is never closed, ends with its line; the next line is the next record. Empty lines are counted as
 * rows, but skipped.
 * @param chunks bytes of the file, split at any point
 */
export async function* csvRecords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRecord> {
  const splitter = new RecordSplitter();
  for await (const chunk of chunks) yield* splitter.push(chunk);
  yield* splitter.end();
}

class RecordSplitter {
  #bytes: Uint8Array = new Uint8Array();
  #row = 0;
  #delimiter: number | undefined;
  /** True while the rest of a line that is too long is skipped. */
  #isSkipping = false;

  *push(chunk: Uint8Array): Generator<CsvRecord> {
    this.#bytes = joinedBytes(this.#bytes, chunk);
    yield* this.#records(false);
  }

  *end(): Generator<CsvRecord> {
    yield* this.#records(true);
  }

  *#records(isEnd: boolean): Generator<CsvRecord> {
    let start = 0;
    for (;;) {
      if (this.#isSkipping) {
        const lineEnd = this.#bytes.indexOf(LF, start);
        start = lineEnd < 0 ? this.#bytes.length : lineEnd + 1;
        this.#isSkipping = lineEnd < 0 && !isEnd;
        if (lineEnd < 0) break;
      }
      if (start >= this.#bytes.length) break;
      const { end, isOpen } = this.#findEnd(start, isEnd);
      const isTooLong = end - start > MAX_RECORD_BYTES;
      if (isTooLong || (isOpen && isEnd)) {
        const lineEnd = this.#lineEnd(start);
        const fault: RecordFault = isOpen
          ? { code: "quote_open" }
          : { code: "row_too_long", maxBytes: MAX_RECORD_BYTES };
        yield { row: ++this.#row, text: decoded(this.#bytes.subarray(start, Math.min(lineEnd, start + 1_000))), fault };
        this.#isSkipping = lineEnd >= this.#bytes.length && !isEnd;
        start = Math.min(lineEnd + 1, this.#bytes.length);
        continue;
      }
      if (isOpen || (end === this.#bytes.length && !isEnd)) break; // more bytes may follow
      const record = this.#record(this.#bytes.subarray(start, end));
      if (record) yield record;
      start = end + 1;
    }
    this.#bytes = this.#bytes.slice(Math.min(start, this.#bytes.length));
  }

  /** The end of the record that begins at `start`: the position of its line break, or of the last byte. */
  #findEnd(start: number, isLast: boolean): { readonly end: number; readonly isOpen: boolean } {
    const bytes = this.#bytes;
    let isQuoted = false;
    let isCellStart = true;
    const limit = Math.min(bytes.length, start + MAX_RECORD_BYTES + 1);
    for (let at = start; at < limit; at++) {
      const byte = bytes[at]!;
      if (isQuoted) {
        if (byte !== QUOTE) continue;
        if (bytes[at + 1] === QUOTE) at++;
        else if (at + 1 < bytes.length || isLast) isQuoted = false;
        else return { end: bytes.length, isOpen: true }; // the next byte decides
        continue;
      }
      if (byte === LF) return { end: at, isOpen: false };
      if (byte === QUOTE && isCellStart) isQuoted = true;
      isCellStart = this.#delimiter === undefined ? DELIMITERS.includes(byte) : byte === this.#delimiter;
      if (at === start && byte === 0xef) isCellStart = true; // a byte order mark
      if (at === start + 1 && byte === 0xbb) isCellStart = true;
      if (at === start + 2 && byte === 0xbf) isCellStart = true;
    }
    return { end: limit, isOpen: isQuoted };
  }

  #lineEnd(start: number): number {
    const lineEnd = this.#bytes.indexOf(LF, start);
    return lineEnd < 0 ? this.#bytes.length : lineEnd;
  }

  #record(line: Uint8Array): CsvRecord | undefined {
    const row = ++this.#row;
    let bytes = line.at(-1) === CR ? line.subarray(0, -1) : line;
    if (row === 1 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) bytes = bytes.subarray(3);
    const text = decoded(bytes);
    if (text.trim() === "") return undefined;
    const byte = unassignedByte(bytes, text);
    if (byte !== undefined) return { row, text: text.slice(0, 1_000), fault: { code: "byte_unknown", byte } };
    this.#delimiter ??= delimiterOf(text);
    const cells = cellsOf(text, String.fromCharCode(this.#delimiter));
    if (cells.length > MAX_CELLS)
      return {
        row,
        text: text.slice(0, 1_000),
        fault: { code: "too_many_cells", cells: cells.length, maxCells: MAX_CELLS },
      };
    return { row, cells };
  }
}

/** The delimiter that occurs most often outside of quotes in the header. */
function delimiterOf(header: string): number {
  const counts = DELIMITERS.map((delimiter) => cellsOf(header, String.fromCharCode(delimiter)).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? 0x2c;
}

/** The cells of a record. A quote within a cell without quotes is part of its text. */
function cellsOf(text: string, delimiter: string): string[] {
  const cells: string[] = [];
  for (let at = 0; at <= text.length; ) {
    if (text[at] !== '"') {
      const end = text.indexOf(delimiter, at);
      cells.push(text.slice(at, end < 0 ? text.length : end));
      if (end < 0) break;
      at = end + 1;
      continue;
    }
    let cell = "";
    let from = at + 1;
    for (;;) {
      const quote = text.indexOf('"', from);
      if (quote < 0) {
        cell += text.slice(from);
        from = text.length;
        break;
      }
      cell += text.slice(from, quote);
      from = quote + 1;
      if (text[from] !== '"') break;
      cell += '"';
      from++;
    }
    const end = text.indexOf(delimiter, from);
    cells.push(cell + text.slice(from, end < 0 ? text.length : end).trimEnd());
    if (end < 0) break;
    at = end + 1;
  }
  return cells;
}

function decoded(bytes: Uint8Array): string {
  try {
    return UTF_8.decode(bytes);
  } catch {
    return WINDOWS_1252.decode(bytes);
  }
}

/** A byte that neither encoding assigns to a character; undefined if there is none. @param text the decoded bytes */
function unassignedByte(bytes: Uint8Array, text: string): number | undefined {
  // WHATWG decoders map such a byte to the control character with its number, which valid UTF-8 may have too.
  const control = /[\u0081\u008d\u008f\u0090\u009d]/.exec(text)?.[0].charCodeAt(0);
  if (control === undefined) return undefined;
  try {
    UTF_8.decode(bytes);
    return undefined;
  } catch {
    return control;
  }
}

function joinedBytes(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
