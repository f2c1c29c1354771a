import { variableName } from "../agents/agent-variables.ts";
import { fileFault } from "./csv-table.ts";
import { type ColumnMeaning, exportedMeaning, isTargetsCsv } from "./target-csv.ts";

/** The columns of a file that have a meaning. */
export interface CsvColumns {
  /** Name of the column with the numbers. Default: the one with a usual name, such as `phone` or `telefone`. */
  readonly phone?: string | undefined;
  /** Name of the column with the references. Default: `reference`, if there is one. */
  readonly reference?: string | undefined;
  /**
   * Variables of the message: a column whose name differs from a variable's only in case, accents or spaces gets its
   * name.
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
const EXTENSION_NAMES = ["extension", "ramal"];

/**
 * Positions of the columns whose names suggest phone numbers. Columns with another use are left out if others remain.
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

/** The position of the column with the numbers. @throws {Refusal} no column has them, or several may */
function phoneColumnOf(header: readonly string[], columns: CsvColumns): number {
  const [index, other] = phoneColumnsOf(header, columns);
  if (index === undefined)
    throw fileFault(
      `no column has the phone numbers; the columns are ${listOf(header)}: name one of them phone, or choose it with phone_column`,
    );
  if (other === undefined) return index;
  const [name = "", otherName = ""] = [header[index], header[other]];
  if (comparable(name) === comparable(otherName))
    throw fileFault(`two columns are named "${name}": rename the one without the numbers to call`);
  throw fileFault(
    `the columns ${listOf([name, otherName])} may both have the phone numbers: choose one with phone_column`,
  );
}

/**
 * The meaning of each column of a file with this header row.
 * @throws {Refusal} `invalid_request`: no column has the numbers, several may, or a chosen one is missing or has two meanings
 */
export function meaningsOf(header: readonly string[], columns: CsvColumns): ColumnMeaning[] {
  const { variableColumns = {} } = columns;
  // Its columns of results are never variables, whichever of its columns are chosen.
  const isExported = isTargetsCsv(header);
  const names = header.map(comparable);
  const indexOf = (chosen: string, kind: string): number => {
    const indices = [...names.keys()].filter((index) => names[index] === comparable(chosen));
    const exact = indices.filter((index) => header[index]?.trim() === chosen.trim());
    const [index, other] = exact.length > 0 ? exact : indices;
    if (index !== undefined && other === undefined) return index;
    if (index !== undefined)
      throw fileFault(`two columns are named "${header[index]}": rename the one that is not for the ${kind}`);
    throw fileFault(`there is no column "${chosen}" for the ${kind}; the columns are ${listOf(header)}`);
  };
  const phone = columns.phone === undefined ? phoneColumnOf(header, columns) : indexOf(columns.phone, "numbers");
  for (const variable of isExported ? [] : (columns.variables ?? [])) {
    const isRepeated = names.filter((name) => name === comparable(variable)).length > 1;
    if (isRepeated && !Object.hasOwn(variableColumns, variable))
      throw fileFault(`two columns are named "${variable}": rename the one that the message does not need`);
  }
  const reference =
    columns.reference === undefined
      ? names.findIndex((name, index) =>
          isExported ? header[index]?.trim() === "reference" : REFERENCE_NAMES.includes(name),
        )
      : indexOf(columns.reference, "references");
  const extension = names.findIndex((name) => EXTENSION_NAMES.includes(name));
  const chosen = new Map<number, string>();
  for (const [variable, column] of Object.entries(variableColumns)) {
    const index = indexOf(column, `variable ${variable}`);
    const other = index === phone ? "the numbers" : chosen.has(index) && `the variable ${chosen.get(index)}`;
    if (other)
      throw fileFault(`the column "${column}" has ${other}, so it cannot be the column of the variable ${variable}`);
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

/** @throws {Refusal} a variable of the message has no column */
export function assertVariables(
  header: readonly string[],
  meanings: readonly ColumnMeaning[],
  variables: readonly string[] = [],
): void {
  const names = new Set(meanings.map((meaning) => meaning.kind === "variable" && meaning.name));
  const missing = variables.filter((name) => !names.has(name));
  const [first] = missing;
  if (first === undefined) return;
  const placeholders = missing.map((name) => `{{${name}}}`).join(", ");
  throw fileFault(
    `the message needs ${placeholders}, and no column has that name; the columns are ${listOf(header)}: name one of them "${first}", or choose it with variable_columns`,
  );
}

/** The columns of fields and variables that have another name in the file. */
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

function listOf(header: readonly string[]): string {
  const names = header.slice(0, 20).map((name) => `"${name.slice(0, 40)}"`);
  return names.join(", ");
}
