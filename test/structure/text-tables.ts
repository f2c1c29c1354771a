import ts from "typescript";
import type { SourceFile } from "./source-files.ts";

/** Parsing every file would take seconds. */
const CANDIDATE = /Record<string|(?:[(?!=>]|&&|\|\||return)\s*[\w.]+ in /;

/**
 * Places in which an outside text may find inherited properties, such as `constructor`, one sentence each:
 * an object literal that any text may index, an object that a declaration widens to one, and `in` with a variable.
 */
export function textTablesOf({ path, text }: SourceFile): readonly string[] {
  if (!CANDIDATE.test(text)) return [];
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext);
  const aliases = new Set<string>();
  const tables: string[] = [];
  const isTextKeyed = (type: ts.TypeNode | undefined): boolean =>
    type !== undefined &&
    ts.isTypeReferenceNode(type) &&
    (/^(?:Readonly<|Partial<)*Record<string,/.test(type.getText(file)) || aliases.has(type.getText(file)));
  const add = (node: ts.Node, sentence: string): void => {
    tables.push(`${path}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}: ${sentence}`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword && !isFixed(node.left))
      add(node, `${node.getText(file)} is true of inherited names: use Object.hasOwn`);
    if (ts.isTypeAliasDeclaration(node) && isTextKeyed(node.type)) aliases.add(node.name.text);
    if (
      (ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node)) &&
      isTextKeyed(node.type) &&
      isTable(node.initializer)
    )
      add(node, `${node.name.getText(file)} is an object, and its keys are any text: use a Map`);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return tables;
}

/** True if the name before `in` is the program's own: a literal, `#member` or a symbol. */
const isFixed = (name: ts.Node): boolean =>
  ts.isStringLiteralLike(name) || ts.isPrivateIdentifier(name) || ts.isPropertyAccessExpression(name);

/** True if an initializer is an object with members, or a member of another object. */
function isTable(node: ts.Expression | undefined): boolean {
  if (node === undefined) return false;
  if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) return isTable(node.expression);
  if (ts.isObjectLiteralExpression(node)) return node.properties.length > 0;
  return ts.isPropertyAccessExpression(node);
}
