import type { SipRule } from "../../../../src/domain/sip-choice.ts";

/** The choices that all of these trunks leave to a call: the entries that each of them has. */
export function sharedSipRule(trunks: readonly { readonly sip: SipRule }[]): SipRule {
  const common = (listOf: (rule: SipRule) => readonly string[]): string[] => {
    const [first = [], ...others] = trunks.map(({ sip }) => listOf(sip).map((entry) => entry.toLowerCase()));
    return first.filter((entry) => others.every((list) => list.includes(entry)));
  };
  return { headers: common(({ headers }) => headers), uriHosts: common(({ uriHosts }) => uriHosts) };
}
