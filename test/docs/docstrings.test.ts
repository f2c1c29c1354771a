import ts from "typescript";
import { expect, test } from "vitest";
import { fileOf } from "./pages.ts";

const { config } = ts.readConfigFile(fileOf("tsconfig.json"), ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, fileOf("."));

test("every export has a docstring", { timeout: 60_000 }, () => {
  const entries = Object.values(config.compilerOptions.paths as Record<string, [string]>).map(([file]) => fileOf(file));
  const program = ts.createProgram(entries, options);
  const checker = program.getTypeChecker();
  const undocumented = entries.flatMap((file) => {
    const entry = checker.getSymbolAtLocation(program.getSourceFile(file)!)!;
    return checker
      .getExportsOfModule(entry)
      .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol))
      .filter((symbol) => !/\w.*[.:`]/s.test(ts.displayPartsToString(symbol.getDocumentationComment(checker))))
      .map(({ name }) => `${file}: ${name}`);
  });
  expect(undocumented).toEqual([]);
});
