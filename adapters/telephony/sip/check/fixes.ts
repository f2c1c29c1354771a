import type { ChallengeRefusalCode } from "../../../sip-stack/auth/challenge.ts";
import type { InviteEnd } from "../../../sip-stack/dialog/invite.ts";
import { OFFER_REFUSED } from "../outcome/media-refusal.ts";

/** The fix for a request whose account was refused. @param refusal reason why a challenge was not answered */
export function credentialsFix(status: number | undefined, refusal?: ChallengeRefusalCode): string {
  if (refusal === "weaker_algorithm")
    return "the server offers a weaker algorithm than before: ask its operator whether that is intended; if so, restart Ringport";
  if (refusal === "other_realm") return "if that realm belongs to the trunk, list it in `realms`";
  switch (status) {
    case 401:
    case 407:
      return "check `user`, `authUser` and `password`; the realm may want the user in another form";
    case 403:
      return "the server knows us and forbids it: ask its operator whether this account may do that from our address; some servers reject a wrong password or `domain` like this";
    case 404:
      return "the server does not know this account: check `user` and `domain`";
    case 405:
    case 501:
      return "the server accepts no registrations: leave out `register`";
    default:
      return "ask the server's operator whether this account may register from here";
  }
}

/** The fix for a failed call, by its end, which is undefined if the call has not ended. */
export function callFix(end: InviteEnd | undefined): string {
  if (end?.type === "media" && end.isUnacceptable === true) return OFFER_FIX;
  if (end?.type !== "rejected") return TRACE;
  const { status } = end.response;
  if (OFFER_REFUSED.has(status)) return OFFER_FIX;
  if (status === 403)
    return "the trunk forbids this call: check that the account may call this number, and `from` and `callerId`; ask the trunk's operator about our address";
  if (status === 401 || status === 407) return credentialsFix(status, end.refusal?.code);
  if (status === 404 || status === 484) return "check the number, and how it is written: `numberFormat`";
  if (status === 408 || (status >= 480 && status < 490) || status >= 600) return "call a number that answers";
  return TRACE;
}

const OFFER_FIX =
  "name one of the peer's codecs in `codecs`, and check `srtp`: `required` and `off` exclude each other; `trace` shows the peer's SDP";

/** Advice if no check shows a fix. */
export const TRACE = "check the steps above; `trace` adds every message of a call to its timeline";

export const MEDIA_FROM =
  "if the remote audio is meant to be there, add that network to `mediaFrom`; if not, its `c=` line is wrong: its operator must set its public address";

/** Advice if no remote audio arrives. */
export const NAT =
  "no remote audio arrives: set `publicAddress` to the address that the peer sees, and let the UDP ports of `rtpPorts` in";

/** Advice if only remote RTCP arrives. */
export const ONLY_REPORTS =
  "the peer receives our audio and sends none: its phone is muted or only listens, or a firewall lets RTCP in but not RTP; check `rtpPorts`";
