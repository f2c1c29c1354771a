import { expect, test } from "vitest";
import { type TargetPlace, withDuplicates } from "../../../src/domain/batches/duplicates.ts";

const first: TargetPlace = { row: 2, position: 1 };

test.each([
  ["the same import", 5, 3, "row 2 has the same number; it is called once"],
  ["another import with the same row", 2, 3, "row 2 of an earlier import has the same number; it is called once"],
  ["a later row of another import", 3, 9, "row 2 (target 1 of the batch) has the same number; it is called once"],
])("a duplicate in %s names the first row", (_, row, lastPosition, detail) => {
  const target = { row, phoneKey: "+1", status: "WAITING" as const };
  const [duplicate] = withDuplicates([target], new Map([["+1", first]]), lastPosition);
  expect(duplicate).toMatchObject({ status: "DUPLICATE", faults: [{ detail }] });
});
