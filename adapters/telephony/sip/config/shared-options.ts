import type { SipRule } from "../../../../src/domain/calls/sip-choice.ts";
import { type CallerIdRule, isCallerIdAllowed } from "../../../../src/domain/numbers/caller-id.ts";
import type { Telephony } from "../../../../src/ports/telephony.ts";
import type { Trunk } from "./trunk-config.ts";

/** The users whose instances may call over all of these trunks; undefined if there are none, or they are unknown. */
export function sharedUsers(trunks: readonly Pick<Trunk, "users">[]): NonNullable<Telephony["users"]> | undefined {
  const userLists = trunks.map(({ users }) => users ?? "first").filter((users) => users !== "*");
  const [first, ...others] = userLists;
  if (first === undefined) return "*";
  if (first === "first") return others.every((users) => users === "first") ? "first" : undefined;
  const userIds = first.filter((user) => others.every((users) => users !== "first" && users.includes(user)));
  return userIds.length === 0 ? undefined : userIds;
}

/** The caller numbers that all of these trunks allow; undefined if one of them leaves no choice. */
export function sharedCallerIds(
  trunks: readonly { readonly callerIds: CallerIdRule | undefined }[],
): CallerIdRule | undefined {
  let callerIdRule: CallerIdRule = "*";
  for (const { callerIds } of trunks) {
    if (callerIds === undefined) return undefined;
    callerIdRule = intersection(callerIdRule, callerIds);
  }
  return callerIdRule;
}

/** The entries that both rules allow: if two entries overlap, one contains the other. */
function intersection(a: CallerIdRule, b: CallerIdRule): CallerIdRule {
  if (a === "*") return b;
  if (b === "*") return a;
  const entriesWithin = (entries: readonly string[], rule: CallerIdRule) =>
    entries.filter((entry) => isCallerIdAllowed(entry, rule));
  return [...new Set([...entriesWithin(a, b), ...entriesWithin(b, a)])];
}

/** The choices that all of these trunks leave to a call: the entries that they have in common. */
export function sharedSipRule(trunks: readonly { readonly sip: SipRule }[]): SipRule {
  const commonEntries = (listOf: (rule: SipRule) => readonly string[]): string[] => {
    const [first = [], ...others] = trunks.map(({ sip }) => listOf(sip).map((entry) => entry.toLowerCase()));
    return first.filter((entry) => others.every((list) => list.includes(entry)));
  };
  return { headers: commonEntries(({ headers }) => headers), uriHosts: commonEntries(({ uriHosts }) => uriHosts) };
}
