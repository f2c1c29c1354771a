import ts from "typescript";
import { test } from "vitest";
import { DEFAULT_TIMINGS } from "../../src/domain/timings.ts";
import { expectPart, table } from "./generated.ts";
import { fileOf } from "./pages.ts";

/** Options that are documented member by member; others have a sentence and the name of their type. */
const EXPANDED_TYPES: ReadonlySet<string> = new Set([
  "EmbeddedTuning",
  "HttpSpeechTuning",
  "TranscriptionTuning",
  "SipTuning",
  "RateLimit",
]);

/** Rows for options that the settings page describes. */
const SUMMARY_ROWS: readonly string[][] = [
  ["`limits.…`", "`number`", "Each of the [limits](configuration.md#limits-of-a-request)."],
  ["`queueTimeoutMs`, …", "`number`", "Each of the [timings](configuration.md#timings-ms), ms."],
];

test("docs/embedding.md lists every option of createRingport", { timeout: 60_000 }, () =>
  expectPart("docs/embedding.md", "options", table(["option", "type", "what it does"], [...rows(), ...SUMMARY_ROWS])),
);

/** Members of `RingportOptions` with their comments. */
function rows(): string[][] {
  const { config } = ts.readConfigFile(fileOf("tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, fileOf("."));
  const file = fileOf("src/options.ts");
  const program = ts.createProgram([file], options);
  const checker = program.getTypeChecker();
  const isRoot = (statement: ts.Statement): statement is ts.InterfaceDeclaration =>
    ts.isInterfaceDeclaration(statement) && statement.name.text === "RingportOptions";
  const root = program.getSourceFile(file)!.statements.find(isRoot)!;

  const members = (type: ts.Type, prefix: string): string[][] =>
    type.getProperties().flatMap((option) => {
      if (prefix === "" && option.name in DEFAULT_TIMINGS) return [];
      const type = checker.getNonNullableType(checker.getTypeOfSymbolAtLocation(option, root));
      const meaning = ts.displayPartsToString(option.getDocumentationComment(checker)).replace(/\s+/g, " ");
      const flags = ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope | ts.TypeFormatFlags.NoTruncation;
      const row = [`\`${prefix}${option.name}\``, `\`${checker.typeToString(type, root, flags)}\``, meaning];
      const isExpanded = EXPANDED_TYPES.has(type.symbol?.name ?? "");
      return isExpanded ? [row, ...members(type, `${prefix}${option.name}.`)] : [row];
    });
  return members(checker.getTypeAtLocation(root), "");
}
