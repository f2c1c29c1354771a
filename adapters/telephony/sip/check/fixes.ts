const PASSWORD = "check `user`, `authUser` and `password`; the realm may want the user in another form";

/** What to do about a refused request, by its status. @param refusal why the password was not sent, or not accepted */
export function credentialsFix(status: number, refusal: string): string {
  if (/gets no answer with/.test(refusal))
    return "the server asks with a weaker algorithm than before: ask whoever runs it whether that is so; restart Ringport if it is meant";
  if (/`realms`/.test(refusal)) return "name in `realms` what the trunk's servers ask for, if that realm is theirs";
  switch (status) {
    case 401:
    case 407:
      return PASSWORD;
    case 403:
      return "the server knows us and forbids it: ask whoever runs it whether this account, and this address of ours, may do that; some answer a wrong password or `domain` like this";
    case 404:
      return "the server does not know this account: check `user` and `domain`";
    case 405:
    case 501:
      return "the server takes no registrations: leave `register` out";
    default:
      return "ask whoever runs the server whether this account may register from here";
  }
}

/** The fix for a call that was refused or not answered, chosen by its `detail`. */
export function callFix(detail: string): string {
  const status = Number(/SIP (\d{3})/.exec(detail)?.[1]);
  if (/No codec in common/.test(detail) || [415, 488, 606].includes(status))
    return "name a codec of the far side in `codecs`, and check `srtp`: `required` and `off` exclude each other";
  if (/mediaFrom/.test(detail)) return MEDIA_FROM;
  if (status === 403)
    return "the trunk forbids this call: check that the account may call this number, and `from` and `callerId`; ask whoever runs it about our address";
  if (status === 401 || status === 407) return credentialsFix(status, detail);
  if (status === 404 || status === 484) return "check the number, and how it is written: `numberFormat`";
  if (status === 408 || (status >= 480 && status < 490) || status >= 600) return "call a number that answers";
  return "see what the steps before say; `trace` shows every message of a call in its timeline";
}

export const MEDIA_FROM =
  "if the far side's audio is meant to be there, add that network to `mediaFrom`; if not, its `c=` line is wrong: whoever runs it must set its public address";

/** What to do if nothing of the far side's audio arrives. */
export const NAT =
  "nothing of the far side's audio arrives: set `publicAddress` to the address that it sees, and let the UDP ports of `rtpPorts` in";

/** What to do if only its reports arrive. */
export const ONLY_REPORTS =
  "the far side receives our audio and sends none: its phone is muted or listens only, or a firewall lets RTCP in and RTP not; check `rtpPorts`";
