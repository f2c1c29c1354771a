import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** One entry of the package, by its types. */
export interface Entry {
  /** Import specifier: `ringport/client`. */
  readonly specifier: string;
  /** Exports of the entry with their kinds and members, sorted: `createClient: function`, `Voice: type { id, language? }`. */
  readonly exports: readonly string[];
  /** Names that exist at run time, sorted. */
  readonly values: readonly string[];
}

/** Every entry of an unpacked package that is code. */
export function entriesOf(folder: string): Entry[] {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const types = new Map<string, string>();
  for (const [key, target] of Object.entries<{ types?: string }>(manifest.exports))
    if (target.types !== undefined) types.set(manifest.name + key.slice(1), join(folder, target.types));
  const options = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, types: [] };
  const program = ts.createProgram([...types.values()], options);
  const checker = program.getTypeChecker();
  return [...types].map(([specifier, file]) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file)!)!;
    const symbols = checker.getExportsOfModule(module).map((symbol) => {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      return { name: symbol.name, kind: kindOf(target), members: membersOf(checker, target, folder) };
    });
    symbols.sort((a, b) => (a.name < b.name ? -1 : 1));
    return {
      specifier,
      exports: symbols.map(({ name, kind, members }) => `${name}: ${kind}${members}`),
      values: symbols.filter(({ kind }) => kind !== "type").map(({ name }) => name),
    };
  });
}

/** Public members that the package itself declares: ` { id, language? }`; empty if there are none. */
function membersOf(checker: ts.TypeChecker, symbol: ts.Symbol, folder: string): string {
  if (!(symbol.flags & (ts.SymbolFlags.Class | ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias))) return "";
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  const names = new Set<string>();
  for (const part of type.isUnion() ? type.types : [type])
    for (const member of part.getProperties()) {
      const [declaration] = member.declarations ?? [];
      if (!declaration?.getSourceFile().fileName.startsWith(folder)) continue;
      if (ts.getCombinedModifierFlags(declaration as ts.Declaration) & ts.ModifierFlags.Private) continue;
      if (member.name.startsWith("__")) continue; // computed and #private names
      names.add(`${member.name}${member.flags & ts.SymbolFlags.Optional ? "?" : ""}`);
    }
  return names.size === 0 ? "" : ` { ${[...names].sort().join(", ")} }`;
}

function kindOf({ flags }: ts.Symbol): "class" | "function" | "const" | "type" {
  if (flags & ts.SymbolFlags.Class) return "class";
  if (flags & ts.SymbolFlags.Function) return "function";
  return flags & ts.SymbolFlags.Variable ? "const" : "type";
}
