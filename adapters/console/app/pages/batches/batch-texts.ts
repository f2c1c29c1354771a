import { ownMember } from "../../../../../src/base/own-member.ts";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/batches.ts";
import enCalls from "../../dictionary/en/calls.ts";
import pt from "../../dictionary/pt/batches.ts";
import ptCalls from "../../dictionary/pt/calls.ts";

/** The texts about batches. */
export const batchTexts = dictionary({ en, pt });
const calls = dictionary({ en: enCalls, pt: ptCalls });

/** Text for the reason why a target has ended. */
export function reasonText(reason: string): string {
  return ownMember(batchTexts.value.reasons, reason) ?? ownMember(calls.value.outcomes, reason) ?? reason;
}
