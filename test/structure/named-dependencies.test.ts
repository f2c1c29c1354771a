import ts from "typescript";
import { expect, test } from "vitest";
import { type SourceFile, sourceFiles } from "./source-files.ts";

/** The files that may name the whole `Context`: its own, and the composition root. */
const WHOLE_CONTEXT_FILES = ["src/application/context.ts", "src/application/application.ts"];

/** One line for each place that accepts the whole `Context` instead of the parts that it needs. */
function wholeContexts({ path, text }: SourceFile): readonly string[] {
  if (!/\bContext\b/.test(text)) return [];
  const contextUses: string[] = [];
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  const visit = (node: ts.Node): void => {
    const { parent } = node;
    if (ts.isTypeNode(node) && node.getText() === "Context" && !isPick(parent))
      contextUses.push(`${path}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return contextUses;
}

function isPick(node: ts.Node): boolean {
  if (ts.isExpressionWithTypeArguments(node)) return node.expression.getText() === "Pick";
  return ts.isTypeReferenceNode(node) && node.typeName.getText() === "Pick";
}

test("each class and function names the parts of the context that it needs", () => {
  const files = sourceFiles().filter(
    ({ path }) => path.startsWith("src/application/") && !WHOLE_CONTEXT_FILES.includes(path),
  );
  expect(files.flatMap(wholeContexts)).toEqual([]);
});

test("the entire context is found in parameters, properties and types", () => {
  const lines = [
    "class A { #context: Context; constructor(context: Context) {} }",
    "function f({ log }: Pick<Context, 'log'>) {}",
    "interface C extends Pick<Context, 'log'> {}",
    "type B = Omit<Context, 'log'> & Context;",
  ];
  const violation = { path: "src/application/a.ts", text: lines.join("\n") };
  expect(wholeContexts(violation)).toEqual([1, 1, 4, 4].map((line) => `${violation.path}:${line}`));
});
