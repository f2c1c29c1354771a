import type { SipRule } from "../../../../src/domain/calls/sip-choice.ts";
import { type CallerIdRule, isCallerIdAllowed } from "../../../../src/domain/numbers/caller-id.ts";
import type { Telephony } from "../../../../src/ports/telephony.ts";
import type { Trunk } from "./trunk.ts";

/** The users whose instances may call over all of these trunks; undefined if there are none, or if they are unknown. */
export function sharedUsers(trunks: readonly Pick<Trunk, "users">[]): NonNullable<Telephony["users"]> | undefined {
  const limited = trunks.map(({ users }) => users ?? "first").filter((users) => users !== "*");
  const [first, ...others] = limited;
  if (first === undefined) return "*";
  if (first === "first") return others.every((users) => users === "first") ? "first" : undefined;
  const shared = first.filter((user) => others.every((users) => users !== "first" && users.includes(user)));
  return shared.length === 0 ? undefined : shared;
}

/** The caller numbers that all of these trunks allow; undefined if one of them leaves no choice. */
export function sharedCallerIds(
  trunks: readonly { readonly callerIds: CallerIdRule | undefined }[],
): CallerIdRule | undefined {
  let shared: CallerIdRule = "*";
  for (const { callerIds } of trunks) {
    if (callerIds === undefined) return undefined;
    shared = common(shared, callerIds);
  }
  return shared;
}

/** The entries that both rules allow: if two entries overlap, one contains the other. */
function common(a: CallerIdRule, b: CallerIdRule): CallerIdRule {
  if (a === "*") return b;
  if (b === "*") return a;
  const within = (entries: readonly string[], rule: CallerIdRule) =>
    entries.filter((entry) => isCallerIdAllowed(entry, rule));
  return [...new Set([...within(a, b), ...within(b, a)])];
}

/** The choices that all of these trunks leave to a call: the entries that each of them has. */
export function sharedSipRule(trunks: readonly { readonly sip: SipRule }[]): SipRule {
  const common = (listOf: (rule: SipRule) => readonly string[]): string[] => {
    const [first = [], ...others] = trunks.map(({ sip }) => listOf(sip).map((entry) => entry.toLowerCase()));
    return first.filter((entry) => others.every((list) => list.includes(entry)));
  };
  return { headers: common(({ headers }) => headers), uriHosts: common(({ uriHosts }) => uriHosts) };
}
