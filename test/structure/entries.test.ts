import { describe, expect, test } from "vitest";
import { builtName, ENTRIES, exportKey } from "../../.ci/entries.ts";
import { readText } from "./source-files.ts";

const entries = Object.entries(ENTRIES);
const json = (path: string) => JSON.parse(readText(path));

describe("the entries of the package", () => {
  test("package.json exports the built file and the types of each", () => {
    const expected = entries.map(([specifier]) => {
      const builtPath = `./dist/${builtName(specifier)}`;
      return [exportKey(specifier), { types: `${builtPath}.d.ts`, default: `${builtPath}.js` }];
    });
    const { "./package.json": _, ...exported } = json("package.json").exports;
    expect(exported).toEqual(Object.fromEntries(expected));
  });

  test("jsr.json exports the source of each", () => {
    const expected = entries.map(([specifier, source]) => [exportKey(specifier), `./${source}`]);
    expect(json("jsr.json").exports).toEqual(Object.fromEntries(expected));
  });

  test("tsconfig.json resolves the name of each to its source", () => {
    const expected = entries.map(([specifier, source]) => [specifier, [`./${source}`]]);
    expect(json("tsconfig.json").compilerOptions.paths).toEqual(Object.fromEntries(expected));
  });

  test("package.json and jsr.json have the same version and licence", () => {
    const { version, license } = json("package.json");
    expect(json("jsr.json")).toMatchObject({ version, license });
  });
});
