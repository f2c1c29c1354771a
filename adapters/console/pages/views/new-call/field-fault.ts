import { ownMember } from "../../../../../src/base/own-member.ts";
import { dictionary } from "../../dictionary/dictionary.ts";
import enFaults from "../../dictionary/en/form-faults.ts";
import en from "../../dictionary/en/new-call.ts";
import { language } from "../../dictionary/language.ts";
import ptFaults from "../../dictionary/pt/form-faults.ts";
import pt from "../../dictionary/pt/new-call.ts";
import type { FieldFault } from "./form-faults.ts";

const t = dictionary({ en, pt });
const faults = dictionary({ en: enFaults, pt: ptFaults });

/** Fault of a field as a sentence: the server's message in English, a translation by code in other languages. */
export function fieldFaultText({ pointer, code, detail }: FieldFault): string {
  const translation = language.value === "en" ? undefined : ownMember(faults.value, code);
  const text = translation ?? sentence(detail);
  const [, line] = /^\/agent\/instructions\/(\d+)$/.exec(pointer) ?? [];
  return line === undefined ? text : t.value.faults.instruction(Number(line) + 1, text);
}

/** Server messages start in lower case and have no full stop. */
function sentence(text: string): string {
  const end = /[.!?]$/.test(text) ? "" : ".";
  return text.charAt(0).toUpperCase() + text.slice(1) + end;
}
