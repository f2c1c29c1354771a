import { type CallerIdRule, isCallerIdAllowed } from "../../../../src/domain/caller-id.ts";

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

/** The entries within both rules: if two entries overlap, one lies within the other. */
function common(one: CallerIdRule, other: CallerIdRule): CallerIdRule {
  if (one === "*") return other;
  if (other === "*") return one;
  const within = (entries: readonly string[], rule: CallerIdRule) =>
    entries.filter((entry) => isCallerIdAllowed(entry, rule));
  return [...new Set([...within(one, other), ...within(other, one)])];
}
