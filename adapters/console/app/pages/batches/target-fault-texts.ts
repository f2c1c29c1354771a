import { ownMember } from "../../../../../src/base/own-member.ts";
import type { BatchTarget } from "../../../../../src/client/index.ts";
import { detailWithoutColumn } from "../../../../../src/domain/batches/fault-column.ts";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/form-faults.ts";
import { language } from "../../dictionary/language.ts";
import pt from "../../dictionary/pt/form-faults.ts";
import { batchTexts as t } from "./batch-texts.ts";

const formFaults = dictionary({ en, pt });

type TargetFault = BatchTarget["faults"][number];

/** The place of a target's fault: the file's column, or else the field; empty if the fault concerns the whole row. */
export function targetFaultPlace({ column, file_column }: TargetFault): string {
  const { fields, message } = t.value.faults;
  return file_column ?? ownMember(fields, column) ?? (column.startsWith("message.") ? message : column);
}

/**
 * The text of a target's fault, without its place: the server's text in English, a translation of its code in other
 * languages.
 */
export function targetFaultText({ column, file_column, code, detail }: TargetFault): string {
  const text = detailWithoutColumn(file_column, detail);
  if (language.value === "en") return text;
  const { row, hours } = t.value.faults;
  if (code === "value_invalid" && column === "") return row;
  if (code === "value_invalid" && column === "phoneNumber") return hours;
  return ownMember(formFaults.value, code) ?? text;
}
