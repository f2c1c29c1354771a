import ts from "typescript";
import { test } from "vitest";
import { DEFAULT_TIMINGS } from "../../src/domain/timings.ts";
import { expectPart, table } from "./generated.ts";
import { fileOf } from "./pages.ts";

test("docs/embedding.md has every option of createRingport", { timeout: 60_000 }, () =>
  expectPart("docs/embedding.md", "options", `${table(["option", "type", "what it does"], [...rows(), TIMINGS])}`),
);

const TIMINGS = [
  "`queueTimeoutMs` and all other [timings](configuration.md#timings-ms)",
  "`number`",
  "How long things may take, ms.",
];

/** The members of `RingportOptions` with what their comments say. */
function rows(): string[][] {
  const { config } = ts.readConfigFile(fileOf("tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, fileOf("."));
  const file = fileOf("src/options.ts");
  const program = ts.createProgram([file], options);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file)!;
  const declared = source.statements.find(
    (one): one is ts.InterfaceDeclaration => ts.isInterfaceDeclaration(one) && one.name.text === "RingportOptions",
  )!;
  return checker
    .getTypeAtLocation(declared)
    .getProperties()
    .filter(({ name }) => !(name in DEFAULT_TIMINGS))
    .map((option) => {
      const type = checker.typeToString(
        checker.getNonNullableType(checker.getTypeOfSymbolAtLocation(option, declared)),
        declared,
        ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope | ts.TypeFormatFlags.NoTruncation,
      );
      const said = ts.displayPartsToString(option.getDocumentationComment(checker)).replace(/\s+/g, " ");
      return [`\`${option.name}\``, `\`${type}\``, said];
    });
}
