import type { TargetFault } from "./batch.ts";

/** Maximum length of a column's name in a fault, characters. */
const MAX_NAME = 60;

/**
 * The fault of a file's row, with the column's name in the file if that is different.
 * @param columns column of the file for each field and variable with another name
 */
export function inFileColumn(fault: TargetFault, columns: Readonly<Record<string, string>> = {}): TargetFault {
  const { column } = fault;
  return Object.hasOwn(columns, column) ? { ...fault, fileColumn: columns[column]?.slice(0, MAX_NAME) } : fault;
}

/** The columns of a file that faults name, in the form that {@link inFileColumn} expects. */
export function fileColumnsOfFaults(faults: readonly TargetFault[] = []): Record<string, string> {
  return Object.fromEntries(
    faults.flatMap(({ column, fileColumn }) => (fileColumn === undefined ? [] : [[column, fileColumn]])),
  );
}

/** The text of a fault, which begins with the column of the file if that has another name. */
export function detailInFile({ fileColumn, detail }: Pick<TargetFault, "fileColumn" | "detail">): string {
  return prefixOf(fileColumn) + detail;
}

/** The detail without the column that {@link detailInFile} puts before it. */
export function detailWithoutColumn(fileColumn: string | undefined, text: string): string {
  const prefix = prefixOf(fileColumn);
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}

function prefixOf(fileColumn: string | undefined): string {
  return fileColumn === undefined ? "" : `column "${fileColumn}": `;
}
