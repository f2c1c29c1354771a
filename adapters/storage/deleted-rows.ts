import type { DeleteResult } from "kysely";

/** The number of rows that a DELETE removed. */
export function deletedRows({ numDeletedRows }: DeleteResult): number {
  return Number(numDeletedRows);
}
