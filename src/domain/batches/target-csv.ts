import { isObject } from "../input/input-checks.ts";
import type { BatchMessage, BatchTarget, TargetFault } from "./batch.ts";
import { variablesOf } from "./message-template.ts";

/** Columns before the variables of the message. */
const FIRST_COLUMNS = ["position", "row", "phone_number", "reference", "extension"] as const;
/** Columns after the variables. */
const LAST_COLUMNS = [
  ...(["status", "attempts", "reason", "detail", "answered_by", "heard_ms", "heard_ratio", "duration_ms"] as const),
  ...(["started_at", "ended_at", "call_id", "faults"] as const),
] as const;
/** Prefix of a variable's column, if another column has its name. */
const VARIABLE_PREFIX = "variables.";
/** Prefix of the columns for the fields of an agent's result. */
const RESULT_PREFIX = "result.";

const RESERVED: ReadonlySet<string> = new Set([...FIRST_COLUMNS, ...LAST_COLUMNS]);

/**
 * Maximum number of variables with their own column, so that a file stays small even if the names differ in each row.
 */
export const MAX_VARIABLE_COLUMNS = 1_000;

/**
 * The variables that have a column: those of the message, then those that only the targets have, in the order of their
 * first use.
 */
export class VariableColumns {
  readonly #names: Set<string>;

  constructor(message: BatchMessage) {
    this.#names = new Set(variablesOf(message));
  }

  get names(): readonly string[] {
    return [...this.#names];
  }

  add({ variables = {} }: Pick<BatchTarget, "variables">): void {
    for (const name of Object.keys(variables)) if (this.#names.size < MAX_VARIABLE_COLUMNS) this.#names.add(name);
  }
}

/** The header row of a file with the targets of a batch. */
export function targetsCsvHeader(
  message: BatchMessage,
  variableNames: readonly string[] = variablesOf(message),
): string {
  const variables = variableNames.map((name) => (isReserved(name) ? VARIABLE_PREFIX + name : name));
  const results = resultFieldsOf(message).map((name) => RESULT_PREFIX + name);
  return csvRow([...FIRST_COLUMNS, ...variables, ...LAST_COLUMNS, ...results].map(escapeFormula));
}

/** Returns a function that creates a target's row. Values from users cannot become spreadsheet formulas. */
export function targetsCsvRow(
  message: BatchMessage,
  variables: readonly string[] = variablesOf(message),
): (target: BatchTarget) => string {
  const resultFields = resultFieldsOf(message);
  return ({ position, row, phone, reference, extension, variables: values = {}, ...target }) => {
    const { status, attempts, reason, callId, faults = [], result } = target;
    const fields = result?.result ?? {};
    return csvRow([
      String(position),
      String(row),
      escapeFormula(phone),
      escapeFormula(reference ?? ""),
      escapeFormula(extension ?? ""),
      ...variables.map((name) => (Object.hasOwn(values, name) ? escapeFormula(String(values[name])) : "")),
      status,
      String(attempts),
      reason ?? "",
      escapeFormula(result?.detail ?? ""),
      result?.answeredBy ?? "",
      numberText(result?.heardMs),
      numberText(result?.heardRatio),
      numberText(result?.durationMs),
      timeText(result?.startedAt),
      timeText(result?.endedAt),
      callId ?? "",
      escapeFormula(faults.map(faultCell).join("; ")),
      ...resultFields.map((name) => (Object.hasOwn(fields, name) ? escapeFormula(textOf(fields[name])) : "")),
    ]);
  };
}

/** Meaning of a column when a file is imported. */
export type ColumnMeaning =
  | { readonly kind: "phone" | "reference" | "extension" | "none" }
  | { readonly kind: "variable"; readonly name: string };

/** The meaning of a column of such a file when it is imported again. */
export function exportedMeaning(name: string): ColumnMeaning {
  if (name === "phone_number") return { kind: "phone" };
  if (name === "reference" || name === "extension") return { kind: name };
  if (name.startsWith(VARIABLE_PREFIX)) return { kind: "variable", name: name.slice(VARIABLE_PREFIX.length) };
  return RESERVED.has(name) || name.startsWith(RESULT_PREFIX) ? { kind: "none" } : { kind: "variable", name };
}

/** True if this is the header row of an exported file of targets with their results. */
export function isTargetsCsv(header: readonly string[]): boolean {
  const names = new Set(header.map((name) => name.trim()));
  return ["position", "phone_number", "status", "faults"].every((name) => names.has(name));
}

/** A cell without the apostrophe that keeps it from being a formula. */
export function withoutApostrophe(cell: string): string {
  return /^'[=@+\-\t\r]/.test(cell) ? cell.slice(1) : cell;
}

function isReserved(name: string): boolean {
  return RESERVED.has(name) || name.startsWith(RESULT_PREFIX) || name.startsWith(VARIABLE_PREFIX);
}

/** The names of the fields that a message's agent reports. */
function resultFieldsOf({ agent }: BatchMessage): string[] {
  const schema = isObject(agent) ? agent.resultSchema : undefined;
  const properties = isObject(schema) ? schema.properties : undefined;
  return isObject(properties) ? Object.keys(properties) : [];
}

const NUMBER = /^[+-]?\d+(?:[.,]\d+)?$/;

/** The text, with an apostrophe before it if a spreadsheet would read it as a formula. */
function escapeFormula(text: string): string {
  const isFormula = /^[=@\t\r]/.test(text) || (/^[+-]/.test(text) && !NUMBER.test(text));
  return isFormula ? `'${text}` : text;
}

function csvRow(cells: readonly string[]): string {
  return `${cells.map(quoteCell).join()}\r\n`;
}

function quoteCell(cell: string): string {
  return /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function faultCell({ column, fileColumn = column, detail }: TargetFault): string {
  return fileColumn === "" ? detail : `${fileColumn}: ${detail}`;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function numberText(value: number | null | undefined): string {
  return value === null || value === undefined ? "" : String(value);
}

function timeText(time: number | null | undefined): string {
  return time === null || time === undefined ? "" : new Date(time).toISOString();
}
