import { describe, expect, test } from "vitest";
import {
  columnMeanings,
  columnOf,
  csvPreview,
  missingVariables,
  withHeader,
} from "../../../adapters/console/pages/views/new-batch/csv-preview.ts";

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

  test("of an empty file is missing", async () => {
    expect(await csvPreview(new Blob([""]))).toBeUndefined();
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

  test("lack the variables that no column has", async () => {
    const { meanings } = await meaningsOf("phone,name\n+12025550100,Ana\n", ["name", "time"]);
    expect(missingVariables(meanings!, ["name", "time"])).toEqual(["time"]);
  });
});

describe("a list without a header", () => {
  test("gets one", async () => {
    expect(await (await withHeader(new Blob(["+12025550100;Ana\n"]))).text()).toBe(
      "phone;column_2\n+12025550100;Ana\n",
    );
  });

  test("with a header stays", async () => {
    const file = new Blob(["phone,name\n+12025550100,Ana\n"]);
    expect(await withHeader(file)).toBe(file);
  });
});
