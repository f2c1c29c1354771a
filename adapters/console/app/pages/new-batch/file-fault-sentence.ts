import { ownMember } from "../../../../../src/base/own-member.ts";
import { type FileFault, fileFaultText } from "../../../../../src/domain/batches/file-fault.ts";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/file-faults.ts";
import pt from "../../dictionary/pt/file-faults.ts";
import { newBatchTexts } from "./new-batch-texts.ts";

const faults = dictionary({ en, pt });

/** A file's fault, as a sentence that begins with the file's name. */
export function fileFaultSentence(name: string, fault: FileFault): string {
  return `${name}: ${fileFaultText(fault, faults.value)}.`;
}

/** The text for the code of an import's error response; if there is none, the server's message. */
export function importFaultText(code: string, detail: string): string {
  const text = ownMember(newBatchTexts.value.list.responses, code);
  return typeof text === "function" ? text(detail) : (text ?? detail);
}
