import { readdirSync, readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import en from "../../../adapters/console/app/dictionary/en/form-faults.ts";
import enBatch from "../../../adapters/console/app/dictionary/en/new-batch.ts";
import { changeLanguage } from "../../../adapters/console/app/dictionary/language.ts";
import pt from "../../../adapters/console/app/dictionary/pt/form-faults.ts";
import ptBatch from "../../../adapters/console/app/dictionary/pt/new-batch.ts";
import { targetFaultText } from "../../../adapters/console/app/pages/batches/target-fault-texts.ts";
import {
  fileFaultSentence,
  importFaultText,
} from "../../../adapters/console/app/pages/new-batch/file-fault-sentence.ts";
import {
  type FileFault,
  type FileFaultCode,
  type FileFormat,
  FileRefusal,
  type RecordFault,
} from "../../../src/domain/batches/file-fault.ts";
import { batchTargetRoutes } from "../../../src/http/routes/batch-target-routes.ts";

const columns = ["who", "fone"];
const FORMATS: Record<FileFormat, true> = {
  ...{ pdf: true, ods: true, xlsx: true, zip: true, gzip: true, xls: true, rtf: true, markup: true, json: true },
};
const RECORD_FAULTS: { readonly [Code in RecordFault["code"]]: Omit<Extract<RecordFault, { code: Code }>, "code"> } = {
  quote_open: {},
  row_too_long: { maxBytes: 65_536 },
  byte_unknown: { byte: 0x81 },
  too_many_cells: { cells: 201, maxCells: 200 },
};
const FILE_FAULTS: {
  readonly [Code in FileFaultCode]: readonly Omit<Extract<FileFault, { code: Code }>, "code">[];
} = {
  format: Object.keys(FORMATS).map((format) => ({ format: format as FileFormat })),
  utf16: [{}],
  not_text: [{}],
  empty: [{}],
  no_rows: [{}],
  header_unreadable: Object.entries(RECORD_FAULTS).map(([code, values]) => ({
    row: 1,
    fault: { code, ...values } as RecordFault,
  })),
  numbers_missing: [{ columns }],
  numbers_ambiguous: [{ names: ["fone", "tel"] }],
  numbers_repeated: [{ name: "fone" }],
  column_missing: [
    { name: "nome", use: { field: "numbers" }, columns },
    { name: "nome", use: { field: "references" }, columns },
    { name: "nome", use: { variable: "name" }, columns },
  ],
  column_repeated: [{ name: "fone", use: { field: "numbers" } }],
  column_taken: [{ name: "fone", by: { field: "numbers" }, variable: "name" }],
  variable_repeated: [{ variable: "name" }],
  variables_missing: [{ variables: ["name"], columns }],
};
const faults = Object.entries(FILE_FAULTS).flatMap(([code, all]) =>
  all.map((values) => ({ code, ...values }) as FileFault),
);

/** Words that occur in the English texts, but in no Portuguese one. */
const ENGLISH = /\b(?:the|file|row|column|columns|is|are|no|not|save|choose|numbers?)\b/;

afterEach(() => changeLanguage("en"));

test.each(faults)("a file with the fault %j has a text in both languages", (fault) => {
  const english = fileFaultSentence("people.csv", fault);
  expect(english).not.toContain("phone_column");
  expect(english).toMatch(ENGLISH);
  if (!/_missing|_ambiguous/.test(fault.code) && !JSON.stringify(fault).includes("json"))
    expect(english).toBe(`people.csv: ${new FileRefusal(fault).errors[0]?.detail}.`);
  changeLanguage("pt");
  const portuguese = fileFaultSentence("people.csv", fault);
  expect(portuguese).toMatch(/^people\.csv: [a-z].*[^.]\.$/);
  expect(portuguese.replace(/\bno\b/g, "")).not.toMatch(ENGLISH);
});

describe("an error response to an import has a text in both languages", () => {
  const route = batchTargetRoutes({} as never, {} as never, {} as never).find(({ method }) => method === "POST");
  const codes = route?.operation.problems ?? [];
  test.each(codes)("for %s", (code) => {
    expect([Object.keys(enBatch.list.responses), Object.keys(ptBatch.list.responses)]).toEqual([
      expect.arrayContaining([code]),
      expect.arrayContaining([code]),
    ]);
    expect(importFaultText(code, "the body is bad")).toMatch(/\S/);
    changeLanguage("pt");
    expect(importFaultText(code, "o corpo")).toMatch(/[a-zã] /);
  });

  test("or, for an unknown code, the server's message", () => {
    expect(codes.length).toBeGreaterThan(8);
    expect(importFaultText("toString", "gone")).toBe("gone");
  });
});

describe("a row with a fault has a text in both languages", () => {
  const folders = ["src/domain/batches", "src/domain/calls", "src/domain/agents"];
  const files = folders.flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`));
  const sources = [...files.filter((name) => name.endsWith(".ts")), "src/application/batches/target-checks.ts"];
  const codes = new Set<string>();
  for (const source of sources)
    for (const [, code = ""] of readFileSync(source, "utf8").matchAll(/(?:issueText\(\s*|code: )"(\w+)"/g))
      if (!(code in FILE_FAULTS || code in RECORD_FAULTS)) codes.add(code);
  test.each([...codes].sort())("for %s", (code) => {
    expect([Object.keys(en), Object.keys(pt)]).toEqual([
      expect.arrayContaining([code]),
      expect.arrayContaining([code]),
    ]);
  });

  test.each([
    ["phoneNumber", "phone_number_invalid", "Escreva o número"],
    ["phoneNumber", "value_invalid", "Nenhum horário"],
    ["", "value_invalid", "Não foi possível ler a linha"],
    ["nome", "variable_missing", "A mensagem precisa deste valor"],
    ["phoneNumber", "duplicate", "Este número já está na lista"],
    ["nome", "a_later_code", "the server's text"],
  ])("in the column %j for %s", (column, code, text) => {
    const fault = { column, code, detail: "the server's text" };
    expect(targetFaultText(fault)).toBe("the server's text");
    changeLanguage("pt");
    expect(targetFaultText(fault)).toContain(text);
  });
});
