import { describe, expect, test } from "vitest";
import { ChosenList } from "../../../adapters/console/app/pages/new-batch/chosen-list.ts";
import {
  columnMeanings,
  columnOf,
  csvPreview,
  headerFault,
  missingVariables,
  phoneCandidates,
  withHeader,
} from "../../../adapters/console/app/pages/new-batch/csv-preview.ts";
import type { FileFault } from "../../../src/domain/batches/file-fault.ts";
import { targetsCsvHeader } from "../../../src/domain/batches/target-csv.ts";
import { csvTargets } from "../../../src/domain/batches/target-rows.ts";

async function meaningsOf(csv: string, variables: readonly string[] = [], choice = {}) {
  const preview = (await csvPreview(new Blob([csv])))!;
  const meanings = columnMeanings(preview, choice, variables);
  return { preview, meanings };
}

describe("a preview", () => {
  test("has the header and the first five rows", async () => {
    const lines = Array.from({ length: 9 }, (_, index) => `+1202555010${index};Ana`);
    const preview = await csvPreview(new Blob([`phone;name\n${lines.join("\n")}\n`]));
    expect(preview?.header).toEqual(["phone", "name"]);
    expect(preview?.rows.map(({ row }) => row)).toEqual([2, 3, 4, 5, 6]);
  });

  test.each<[string, FileFault]>([
    ["", { code: "empty" }],
    ["phone,name\n", { code: "no_rows" }],
    ["%PDF-1.7\n1 0 obj\n", { code: "format", format: "pdf" }],
  ])("of the file %j is refused with %j", async (content, fault) => {
    const list = new ChosenList();
    await list.open("people.csv", new Blob([content]));
    expect(list.refused.value).toEqual({ name: "people.csv", fault });
    expect([list.list.value, list.isEmpty]).toEqual([undefined, false]);
    await list.open("others.csv", new Blob(["phone\n+12025550100\n"]));
    expect(list.refused.value).toBeUndefined();
  });

  test("has a header for a pasted number", async () => {
    const list = new ChosenList();
    await list.open("Pasted list", new Blob(["+12025550100"]));
    expect(list.list.value?.preview).toEqual({ header: ["phone"], rows: [{ row: 2, cells: ["+12025550100"] }] });
  });
});

describe("the columns", () => {
  test("with usual names are found", async () => {
    const { preview, meanings } = await meaningsOf("Telefone,Referência,Nome\n+12025550100,7,Ana\n", ["nome"]);
    expect(meanings).toEqual([{ kind: "phone" }, { kind: "reference" }, { kind: "variable", name: "nome" }]);
    expect(columnOf(preview, meanings!, "reference")).toBe("Referência");
  });

  test("with numbers are found by their cells", async () => {
    const { preview, meanings } = await meaningsOf("who,contact\nAna,+1 202 555 0100\nRui,+12025550101\n");
    expect(columnOf(preview, meanings!, "phone")).toBe("contact");
  });

  test("without numbers are unknown until one is chosen", async () => {
    expect((await meaningsOf("who,contact\nAna,later\n")).meanings).toBeUndefined();
    const { preview, meanings } = await meaningsOf("who,contact\nAna,later\n", [], { phone: "contact" });
    expect(columnOf(preview, meanings!, "phone")).toBe("contact");
  });

  test.each<[string, FileFault]>([
    ["phone,name,Name", { code: "variable_repeated", variable: "name" }],
    ["phone,phone,name", { code: "column_repeated", name: "phone", use: { field: "numbers" } }],
  ])("of the header %s have the fault %j", async (header, fault) => {
    const preview = await csvPreview(new Blob([`${header}\n+12025550100,+12025550100,Ana\n`]));
    expect(columnMeanings(preview, {}, ["name"])).toBeUndefined();
    expect(headerFault(preview, {}, ["name"])).toEqual(fault);
    expect(headerFault(await csvPreview(new Blob(["who\nAna\n"])), {}, [])).toBeUndefined();
  });

  test("lack the variables that no column has", async () => {
    const { meanings } = await meaningsOf("phone,name\n+12025550100,Ana\n", ["name", "time"]);
    expect(missingVariables(meanings!, ["name", "time"])).toEqual(["time"]);
  });
});

test("a list without a column for a variable is not sent", async () => {
  const list = new ChosenList();
  await list.open("people.csv", new Blob(["phone,who,Who\n+12025550100,Ana,Rui\n"]));
  expect([list.fileFor(["name"]), list.fileFor(["who"])]).toEqual([undefined, undefined]);
  list.chooseVariable("name", "Who");
  expect(list.fileFor(["name"])).toMatchObject({ name: "people.csv", columns: { variableColumns: { name: "Who" } } });
});

describe("if several columns may have the numbers", () => {
  const rows = "+12025550100,+12025550200,7\n+12025550101,+12025550201,8\n";

  test("the first one is the default, and all are named", async () => {
    const { preview, meanings } = await meaningsOf(`phone,mobile,n\n${rows}`);
    expect(columnOf(preview, meanings!, "phone")).toBe("phone");
    expect(phoneCandidates(preview, {}, [])).toEqual(["phone", "mobile"]);
    expect(phoneCandidates((await meaningsOf(`home,work,n\n${rows}`)).preview, {}, [])).toEqual(["home", "work"]);
  });

  test("a column without numbers, or for a variable, is left out", async () => {
    const { preview, meanings } = await meaningsOf("number,phone\n12,+12025550100\n");
    expect(columnOf(preview, meanings!, "phone")).toBe("phone");
    expect(phoneCandidates(preview, {}, [])).toEqual(["phone"]);
    expect(phoneCandidates((await meaningsOf(`phone,mobile,n\n${rows}`)).preview, {}, ["mobile"])).toEqual(["phone"]);
  });

  test("the chosen one is imported", async () => {
    const list = new ChosenList();
    await list.open("people.csv", new Blob([`phone,mobile,n\n${rows}`]));
    expect(list.fileFor([])?.columns.phone).toBe("phone");
    expect(list.fileFor(["phone"])?.columns.phone).toBe("mobile");
    list.choose({ phone: "mobile" });
    expect(list.fileFor([])?.columns.phone).toBe("mobile");
  });
});

test("the results in an exported list are not variables of the import", async () => {
  const message = { type: "FIXED_TTS", tts: { text: "Hello {{name}}" } } as const;
  const csv = `${targetsCsvHeader(message)}1,2,+12025550100,7,,Ana,COMPLETED,1,completed,,human,900,1,2000,,,call_1,\r\n`;
  const list = new ChosenList();
  await list.open("results.csv", new Blob([csv]));
  const { file, columns } = list.fileFor(["name"])!;
  const [row] = await Array.fromAsync(csvTargets(file.stream(), columns));
  expect(row).toMatchObject({ input: { phoneNumber: "+12025550100", reference: "7", variables: { name: "Ana" } } });
  expect(row && "input" in row && Object.keys(row.input.variables ?? {})).toEqual(["name"]);
});

describe("the header of a list", () => {
  test("is added if it is missing", async () => {
    expect(await (await withHeader(new Blob(["+12025550100;Ana\n"]))).text()).toBe(
      "phone;column_2\n+12025550100;Ana\n",
    );
  });

  test("stays if it exists", async () => {
    const file = new Blob(["phone,name\n+12025550100,Ana\n"]);
    expect(await withHeader(file)).toBe(file);
  });
});
