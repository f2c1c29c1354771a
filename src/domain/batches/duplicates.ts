import type { BatchTarget, TargetStatus } from "./batch.ts";

/** True if a target in this state claims its number, which no other target of the batch may have. */
export function claimsNumber(status: TargetStatus): boolean {
  return status !== "INVALID" && status !== "DUPLICATE";
}

/**
 * The targets; each whose number an earlier row has is a `DUPLICATE`.
 * @param rowByKey row of each number that the batch has, by `phoneKey`; numbers of these targets are added
 */
export function withDuplicates<T extends Pick<BatchTarget, "phoneKey" | "row" | "status">>(
  targets: readonly T[],
  rowByKey: Map<string, number>,
): (T | (T & ReturnType<typeof duplicateOf>))[] {
  return targets.map((target) => {
    const { phoneKey, row, status } = target;
    if (phoneKey === null || !claimsNumber(status)) return target;
    const firstRow = rowByKey.get(phoneKey);
    if (firstRow !== undefined) return { ...target, ...duplicateOf(firstRow) };
    rowByKey.set(phoneKey, row);
    return target;
  });
}

/** The fields of a duplicate. @param firstRow the row that has its number, if known */
export function duplicateOf(firstRow?: number): Pick<BatchTarget, "status" | "nextAttemptAt" | "faults"> {
  const detail =
    firstRow === undefined
      ? "another target has the same number"
      : `row ${firstRow} has the same number; it is called once`;
  return { status: "DUPLICATE", nextAttemptAt: null, faults: [{ column: "phoneNumber", code: "duplicate", detail }] };
}
