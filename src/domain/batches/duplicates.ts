import type { BatchTarget, TargetStatus } from "./batch.ts";

/** True if a target in this state claims its number, which no other target of the batch may have. */
export function claimsNumber(status: TargetStatus): boolean {
  return status !== "INVALID" && status !== "DUPLICATE";
}

/** Place of a target: the row of its import, and its position in the batch. */
export type TargetPlace = Pick<BatchTarget, "row" | "position">;

/**
 * Returns the targets, of which each that repeats an earlier target's number becomes a `DUPLICATE`.
 * @param placeByKey places of the numbers in the batch, by `phoneKey`; the places of these targets are added
 * @param lastPosition position of the last target before these
 */
export function withDuplicates<T extends Pick<BatchTarget, "phoneKey" | "row" | "status">>(
  targets: readonly T[],
  placeByKey: Map<string, TargetPlace>,
  lastPosition: number,
): (T | (T & ReturnType<typeof duplicateOf>))[] {
  return targets.map((target, index) => {
    const { phoneKey, row, status } = target;
    if (phoneKey === null || !claimsNumber(status)) return target;
    const place = { row, position: lastPosition + index + 1 };
    const first = placeByKey.get(phoneKey);
    if (first) return { ...target, ...duplicateOf(placeText(first, place)) };
    placeByKey.set(phoneKey, place);
    return target;
  });
}

/** The fields of a duplicate. @param first name of the target that has its number */
export function duplicateOf(first = "another target"): Pick<BatchTarget, "status" | "nextAttemptAt" | "faults"> {
  const detail = `${first} has the same number; it is called once`;
  return { status: "DUPLICATE", nextAttemptAt: null, faults: [{ column: "phoneNumber", code: "duplicate", detail }] };
}

/** The name of a row, for the fault of a later row; each import numbers its rows from 1. */
function placeText(first: TargetPlace, laterPlace: TargetPlace): string {
  if (first.row >= laterPlace.row) return `row ${first.row} of an earlier import`;
  const isSameImport = first.row - first.position === laterPlace.row - laterPlace.position;
  return isSameImport ? `row ${first.row}` : `row ${first.row} (target ${first.position} of the batch)`;
}
