import { describe, expect, test } from "vitest";
import { sourceFiles } from "./source-files.ts";
import { textTablesOf } from "./text-tables.ts";

describe("the tables of src and adapters", () => {
  test("hide inherited properties from outside texts", () => {
    expect(sourceFiles().flatMap(textTablesOf)).toEqual([]);
  });
});

describe("the rule", () => {
  const count = (text: string): number => textTablesOf({ path: "src/x.ts", text }).length;

  test.each([
    "const TABLE: Record<string, number> = { a: 1 };",
    "const TABLE: Readonly<Record<string, number>> = { a: 1 } as const;",
    "class X { readonly table: Readonly<Record<string, number>> = { a: 1 }; }",
    "type Table = Readonly<Record<string, number>>;\nconst TABLE: Table = { a: 1 };",
    "const known: Readonly<Record<string, string>> = t.value.reasons;",
    "const known = cause in texts;",
  ])("finds %s", (text) => {
    expect(count(text)).toBe(1);
  });

  test.each([
    "const TABLE = { a: 1 } as const satisfies Record<string, number>;",
    "const TABLE: Readonly<Record<Colour, number>> = { red: 1 };",
    "const TABLE: ReadonlyMap<string, number> = new Map(Object.entries({ a: 1 }));",
    "const collected: Record<string, number> = {};",
    'const encrypted = "encrypted" in socket || #phone in other || Symbol.iterator in other;',
    "interface Options { readonly headers: Readonly<Record<string, string>>; }",
  ])("permits %s", (text) => {
    expect(count(text)).toBe(0);
  });
});
