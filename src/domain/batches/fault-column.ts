import type { TargetFault } from "./batch.ts";

/** Longest name of a column that a fault quotes, characters. */
const MAX_NAME = 60;
const COLUMN_PREFIX = /^column "(.*?)": /;

/**
 * The fault of a row of a file, whose detail begins with the column of the file if that has another name.
 * @param columns column of the file for each field and variable with another name
 */
export function inFileColumn(fault: TargetFault, columns: Readonly<Record<string, string>> = {}): TargetFault {
  const { column, detail } = fault;
  if (!Object.hasOwn(columns, column)) return fault;
  const name = (columns[column] ?? "").slice(0, MAX_NAME).replaceAll('"', "'");
  return { ...fault, detail: `column "${name}": ${detail}` };
}

/** The place and the text of a fault for people: the column of the file, or else the field; empty for the whole row. */
export function placeAndText({
  column,
  detail,
}: Pick<TargetFault, "column" | "detail">): [place: string, text: string] {
  const [prefix, name] = COLUMN_PREFIX.exec(detail) ?? [];
  return prefix !== undefined && name ? [name, detail.slice(prefix.length)] : [column, detail];
}
