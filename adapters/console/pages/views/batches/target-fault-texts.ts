import { ownMember } from "../../../../../src/base/own-member.ts";
import type { BatchTarget } from "../../../../../src/client/index.ts";
import { detailWithoutColumn } from "../../../../../src/domain/batches/fault-column.ts";
import { batchTexts as t } from "./batch-texts.ts";

type TargetFault = BatchTarget["faults"][number];

/** The place of a target's fault: the column of the file, or else the field; empty for the whole row. */
export function targetFaultPlace({ column, file_column }: TargetFault): string {
  const { fields, message } = t.value.faults;
  return file_column ?? ownMember(fields, column) ?? (column.startsWith("message.") ? message : column);
}

/** The text of a target's fault, without its place. */
export function targetFaultText({ file_column, detail }: TargetFault): string {
  return detailWithoutColumn(file_column, detail);
}
