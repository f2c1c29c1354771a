import type { InviteEnd } from "../../../sip-stack/dialog/invite.ts";

/** Whether the trunk caused the end of a call, not the callee: a final 5xx, or an unreachable server. */
export function isTrunkFault(end: InviteEnd): boolean {
  if (end.type === "unreachable") return true;
  return end.type === "rejected" && end.response.status >= 500 && end.response.status < 600;
}
