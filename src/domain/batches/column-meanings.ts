import { variableName } from "../agents/agent-variables.ts";
import { type ColumnUse, FileRefusal } from "./file-fault.ts";
import { type ColumnMeaning, exportedMeaning, isTargetsCsv } from "./target-csv.ts";

/** The columns with a meaning in a file. */
export interface CsvColumns {
  /**
   * Name of the column that contains the numbers. Default: the column with a common name, such as `phone` or
   * `telefone`.
   */
  readonly phone?: string | undefined;
  /** Name of the column that contains the references. Default: `reference`, if there is one. */
  readonly reference?: string | undefined;
  /**
   * Variables of the message: a column whose name differs from a variable's only in case, accents or spaces gets the
   * variable's name.
   */
  readonly variables?: readonly string[] | undefined;
  /** Column of each variable whose column has another name. */
  readonly variableColumns?: Readonly<Record<string, string>> | undefined;
}

const PHONE_NAMES = [
  "phonenumber",
  "phone",
  "number",
  "telefone",
  "celular",
  "numero",
  "tel",
  "mobile",
  "whatsapp",
  "fone",
];
const REFERENCE_NAMES = ["reference", "referencia", "ref"];
const NUMBERS: ColumnUse = { field: "numbers" };
const EXTENSION_NAMES = ["extension", "ramal"];

/**
 * Positions of the columns whose names suggest phone numbers. Columns with another use are excluded if others remain.
 */
export function phoneColumnsOf(header: readonly string[], columns: CsvColumns): number[] {
  if (isTargetsCsv(header)) return [header.findIndex((name) => exportedMeaning(name.trim()).kind === "phone")];
  const { reference = "", variables = [], variableColumns = {} } = columns;
  const variableNames = variables.filter((name) => !Object.hasOwn(variableColumns, name));
  const otherNames = [reference, ...variableNames, ...Object.values(variableColumns)].map(comparable);
  const indices = [...header.keys()].filter((index) => PHONE_NAMES.includes(comparable(header[index] ?? "")));
  const freeIndices = indices.filter((index) => !otherNames.includes(comparable(header[index] ?? "")));
  return freeIndices.length > 0 ? freeIndices : indices.slice(0, 1);
}

/** The position of the column that contains the numbers. @throws {FileRefusal} no column has them, or several may */
function phoneColumnOf(header: readonly string[], columns: CsvColumns): number {
  const [index, other] = phoneColumnsOf(header, columns);
  if (index === undefined) throw new FileRefusal({ code: "numbers_missing", columns: header });
  if (other === undefined) return index;
  const [name = "", otherName = ""] = [header[index], header[other]];
  if (comparable(name) === comparable(otherName)) throw new FileRefusal({ code: "numbers_repeated", name });
  throw new FileRefusal({ code: "numbers_ambiguous", names: [name, otherName] });
}

/**
 * The meaning of each column of a file with this header row.
 * @throws {FileRefusal} no column has the numbers, several may, or a chosen column is missing or has two meanings
 */
export function meaningsOf(header: readonly string[], columns: CsvColumns): ColumnMeaning[] {
  const { variableColumns = {} } = columns;
  // The result columns of an exported file are never variables, whichever columns are chosen.
  const isExported = isTargetsCsv(header);
  const names = header.map(comparable);
  const indexOf = (chosen: string, use: ColumnUse): number => {
    const indices = [...names.keys()].filter((index) => names[index] === comparable(chosen));
    const exact = indices.filter((index) => header[index]?.trim() === chosen.trim());
    const [index, other] = exact.length > 0 ? exact : indices;
    if (index !== undefined && other === undefined) return index;
    if (index !== undefined) throw new FileRefusal({ code: "column_repeated", name: header[index] ?? "", use });
    throw new FileRefusal({ code: "column_missing", name: chosen, use, columns: header });
  };
  const phone = columns.phone === undefined ? phoneColumnOf(header, columns) : indexOf(columns.phone, NUMBERS);
  for (const variable of isExported ? [] : (columns.variables ?? [])) {
    const isRepeated = names.filter((name) => name === comparable(variable)).length > 1;
    if (isRepeated && !Object.hasOwn(variableColumns, variable))
      throw new FileRefusal({ code: "variable_repeated", variable });
  }
  const reference =
    columns.reference === undefined
      ? names.findIndex((name, index) =>
          isExported ? header[index]?.trim() === "reference" : REFERENCE_NAMES.includes(name),
        )
      : indexOf(columns.reference, { field: "references" });
  const extension = names.findIndex((name) => EXTENSION_NAMES.includes(name));
  const chosen = new Map<number, string>();
  for (const [variable, column] of Object.entries(variableColumns)) {
    const index = indexOf(column, { variable });
    const otherVariable = chosen.get(index);
    const by = index === phone ? NUMBERS : otherVariable !== undefined && { variable: otherVariable };
    if (by) throw new FileRefusal({ code: "column_taken", name: column, by, variable });
    chosen.set(index, variable);
  }
  const wanted = new Map((columns.variables ?? []).map((name) => [comparable(name), name]));
  return header.map((name, index): ColumnMeaning => {
    const chosenVariable = chosen.get(index);
    if (chosenVariable !== undefined) return { kind: "variable", name: chosenVariable };
    if (index === phone) return { kind: "phone" };
    if (index === reference) return { kind: "reference" };
    const exported = isExported ? exportedMeaning(name.trim()) : undefined;
    if (exported?.kind === "none" || exported?.kind === "extension") return exported;
    if (exported?.kind === "variable")
      return Object.hasOwn(variableColumns, exported.name) ? { kind: "none" } : exported;
    const variable = wanted.get(names[index] ?? "") ?? variableName(name);
    if (index === extension && !wanted.has(names[index] ?? "")) return { kind: "extension" };
    if (variable === "" || Object.hasOwn(variableColumns, variable)) return { kind: "none" };
    return { kind: "variable", name: variable };
  });
}

/** @throws {FileRefusal} a variable of the message has no column */
export function assertVariables(
  header: readonly string[],
  meanings: readonly ColumnMeaning[],
  variables: readonly string[] = [],
): void {
  const names = new Set(meanings.map((meaning) => meaning.kind === "variable" && meaning.name));
  const missing = variables.filter((name) => !names.has(name));
  if (missing.length > 0) throw new FileRefusal({ code: "variables_missing", variables: missing, columns: header });
}

/** The columns of the fields and variables that have another name in the file. */
export function fileColumnsOf(
  header: readonly string[],
  meanings: readonly ColumnMeaning[],
): Readonly<Record<string, string>> {
  const entries = meanings.flatMap((meaning, index) => {
    const column = header[index]?.trim() ?? "";
    const field = meaning.kind === "phone" ? "phoneNumber" : meaning.kind === "variable" ? meaning.name : meaning.kind;
    return meaning.kind === "none" || column === field || column === "" ? [] : [[field, column] as const];
  });
  return Object.fromEntries(entries);
}

/** A name without case, accents, spaces and punctuation. */
function comparable(name: string): string {
  return name
    .normalize("NFD")
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "");
}
