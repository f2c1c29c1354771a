import ts from "typescript";
import type { SourceFile } from "./source-files.ts";

/** Functions that look up a host name, by the module that exports them. */
const IMPORTED: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["dns", new Set(["default", "*", "promises", "lookup", "lookupService"])],
  ["dns/promises", new Set(["default", "*", "lookup", "lookupService"])],
  ["net", new Set(["default", "*", "connect", "createConnection", "Socket"])],
  ["tls", new Set(["default", "*", "connect", "TLSSocket"])],
  ["http", new Set(["default", "*", "request", "get", "Agent", "ClientRequest"])],
  ["https", new Set(["default", "*", "request", "get", "Agent"])],
  ["http2", new Set(["default", "*", "connect"])],
  ["dgram", new Set(["default", "*", "createSocket", "Socket"])],
  ["ws", new Set(["default", "*", "WebSocket"])],
  ["ky", new Set(["default", "*"])],
  ["partysocket/ws", new Set(["default", "*"])],
]);
const GLOBAL = new Set(["fetch", "WebSocket", "WebSocketStream", "EventSource"]);
/** Members of `Deno` and `Bun`. */
const OF_RUNTIMES = new Set([
  "connect",
  "connectTls",
  "listenDatagram",
  "resolveDns",
  "udpSocket",
  "dns",
  "sql",
  "SQL",
]);
/** Packages that connect, and are loaded on demand. */
const PACKAGES = new Set(["pg", "undici"]);
/** Parsing every file would take seconds. */
const CANDIDATE =
  /\b(?:fetch|WebSocket|WebSocketStream|EventSource|Deno|Bun)\b|(?:node:|")(?:dns|net|tls|https?2?|dgram|ws|ky|partysocket|pg|undici)\b/;
/** Ways to connect without a lookup, or only with the lookup of users' hosts. */
const SAFE_USE = /\b(?:publicConnection\(|lookup: addressOnly\b)/;

/** Places of a file that may look up a host by `getaddrinfo`, as written; none if it has a separate lookup. */
export function hostLookupsOf({ path, text }: SourceFile): readonly string[] {
  if (!CANDIDATE.test(text) || SAFE_USE.test(text)) return [];
  const lookups: string[] = [];
  const imported = new Map<string, string>();
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext);
  for (const statement of file.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const names = IMPORTED.get(statement.moduleSpecifier.text.replace(/^node:/, ""));
    const { importClause } = statement;
    if (names === undefined || importClause === undefined) continue;
    if (importClause.phaseModifier === ts.SyntaxKind.TypeKeyword) continue;
    if (importClause.name !== undefined) imported.set(importClause.name.text, "default");
    const bindings = importClause.namedBindings;
    if (bindings !== undefined && ts.isNamespaceImport(bindings)) imported.set(bindings.name.text, "*");
    if (bindings === undefined || !ts.isNamedImports(bindings)) continue;
    for (const { name, propertyName, isTypeOnly } of bindings.elements)
      if (!isTypeOnly && names.has((propertyName ?? name).text)) imported.set(name.text, (propertyName ?? name).text);
  }
  const visit = (node: ts.Node): void => {
    if (isLookup(node, imported)) lookups.push(node.getText(file).split("\n", 1)[0] as string);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return lookups;
}

function isLookup(node: ts.Node, imported: ReadonlyMap<string, string>): boolean {
  if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
    const [object, member] = [node.expression.text, node.name.text];
    if (object === "globalThis") return GLOBAL.has(member);
    return (object === "Deno" || object === "Bun") && OF_RUNTIMES.has(member);
  }
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return false;
  const { expression } = node;
  if (expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [module] = node.arguments ?? [];
    return module !== undefined && ts.isStringLiteral(module) && PACKAGES.has(module.text);
  }
  const root = rootOf(expression);
  if (root === undefined) return false;
  return imported.has(root) || (ts.isIdentifier(expression) && GLOBAL.has(root));
}

/** The first name of `a.b.c`. */
function rootOf(expression: ts.Expression): string | undefined {
  if (ts.isIdentifier(expression)) return expression.text;
  return ts.isPropertyAccessExpression(expression) ? rootOf(expression.expression) : undefined;
}
