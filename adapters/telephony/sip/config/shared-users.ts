import type { Telephony } from "../../../../src/ports/telephony.ts";
import type { Trunk } from "./trunk.ts";

/** The users whose instances may call over all of these trunks; undefined if there are none, or if they are unknown. */
export function sharedUsers(trunks: readonly Pick<Trunk, "users">[]): NonNullable<Telephony["users"]> | undefined {
  const limited = trunks.map(({ users }) => users ?? "first").filter((users) => users !== "*");
  const [one, ...others] = limited;
  if (one === undefined) return "*";
  if (one === "first") return others.every((users) => users === "first") ? "first" : undefined;
  const shared = one.filter((user) => others.every((users) => users !== "first" && users.includes(user)));
  return shared.length === 0 ? undefined : shared;
}
