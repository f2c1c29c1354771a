import type { InviteEnd } from "../dialog/invite.ts";

/** Whether a call ended for a fault of the trunk, not of the callee: a final 5xx, or no way to its server. */
export function isTrunksFault(end: InviteEnd): boolean {
  if (end.type === "unreachable") return true;
  return end.type === "rejected" && end.response.status >= 500 && end.response.status < 600;
}
