import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CsvRecord, csvRecords, MAX_RECORD_BYTES } from "../../../src/domain/batches/csv-records.ts";
import { recordFaultText } from "../../../src/domain/batches/file-fault.ts";

/** The records of a file whose bytes arrive in chunks that end at these places. */
async function recordsOf(file: Uint8Array | string, cuts: readonly number[] = []): Promise<CsvRecord[]> {
  const bytes = typeof file === "string" ? new TextEncoder().encode(file) : file;
  const ends = [...cuts.filter((cut) => cut < bytes.length), bytes.length].sort((a, b) => a - b);
  async function* chunks() {
    let start = 0;
    for (const end of ends) {
      yield bytes.subarray(start, end);
      start = end;
    }
  }
  return Array.fromAsync(csvRecords(chunks()));
}

const cellsOf = (records: readonly CsvRecord[]) =>
  records.map((record) => ("cells" in record ? record.cells : recordFaultText(record.fault)));

const cell = fc.string({
  unit: fc.constantFrom("a", "é", "😀", " ", '"', ",", ";", "\t", "\n", "1", "+"),
  maxLength: 12,
});
const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;

describe("the records of a CSV file", () => {
  test("equal what was written, wherever its bytes are cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(",", ";", "\t"),
        fc.constantFrom("\n", "\r\n"),
        fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 6 }),
        fc.array(fc.nat({ max: 400 }), { maxLength: 8 }),
        fc.boolean(),
        async (delimiter, lineEnd, rows, cuts, hasMark) => {
          const header = ["phone", "name", "city"];
          const lines = [header.join(delimiter), ...rows.map((row) => row.map(quote).join(delimiter))];
          const file = `${hasMark ? "\ufeff" : ""}${lines.join(lineEnd)}${lineEnd}`;
          expect(cellsOf(await recordsOf(file, cuts))).toEqual([header, ...rows]);
        },
      ),
    );
  });

  test("are the same for every cut of any bytes", async () => {
    const byte = fc.constantFrom(0x22, 0x2c, 0x0a, 0x0d, 0x61, 0x3b, 0xc3, 0xa9, 0xff, 0x00);
    await fc.assert(
      fc.asyncProperty(
        fc.array(byte, { maxLength: 80 }).map((bytes) => Uint8Array.from(bytes)),
        fc.array(fc.nat({ max: 80 }), { maxLength: 8 }),
        async (file, cuts) => {
          expect(await recordsOf(file, cuts)).toEqual(await recordsOf(file));
        },
      ),
    );
  });

  test("a byte that fits no encoding invalidates only its own row", async () => {
    const row = (byte: number) => [...new TextEncoder().encode("+1,Ada"), byte, 0x0a];
    const file = Uint8Array.from([...row(0x20), ...row(0xe9), ...row(0x81), ...row(0x20)]);
    const fault = "the byte 0x81 is not a character in UTF-8 or Windows-1252: save the file as CSV in UTF-8";
    expect(cellsOf(await recordsOf(file))).toEqual([["+1", "Ada "], ["+1", "Adaé"], fault, ["+1", "Ada "]]);
    expect(cellsOf(await recordsOf("+1,\u0081\n"))).toEqual([["+1", "\u0081"]]);
  });

  test("a quote that is never closed invalidates only its own row", async () => {
    const records = await recordsOf('phone,name\n+1,"Ada\n+2,Bob\n+3,Cyd\n');
    expect(records).toEqual([
      { row: 1, cells: ["phone", "name"] },
      {
        row: 2,
        text: '+1,"Ada',
        fault: { code: "quote_open" },
      },
      { row: 3, cells: ["+2", "Bob"] },
      { row: 4, cells: ["+3", "Cyd"] },
    ]);
  });

  test("a row that is too long invalidates only itself, in bounded memory", async () => {
    const longRow = "x".repeat(3 * MAX_RECORD_BYTES);
    const records = await recordsOf(`phone\n${longRow}\n+2\n`, [10, 70_000, 140_000]);
    expect(cellsOf(records)).toEqual([
      ["phone"],
      `the row is longer than ${MAX_RECORD_BYTES} bytes: shorten its cells`,
      ["+2"],
    ]);
  });

  test("a row in Windows-1252 keeps its accents", async () => {
    const file = Uint8Array.from([...new TextEncoder().encode("phone;nome\n+1;Jo"), 0xe3, 0x6f, 0x0a]);
    expect(cellsOf(await recordsOf(file))).toEqual([
      ["phone", "nome"],
      ["+1", "João"],
    ]);
  });
});
