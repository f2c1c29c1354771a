import { SipHeaders } from "../message/headers.ts";
import { type SipRequest, type SipResponse, sipRequest } from "../message/message.ts";

/** A hop-by-hop request with the fields of the INVITE it belongs to, among them the topmost Via. */
function hopByHop(method: string, { uri, headers: from }: SipRequest, to: string | undefined): SipRequest {
  const headers = new SipHeaders();
  headers.add("Via", from.list("Via")[0] ?? "");
  headers.add("Max-Forwards", "70");
  for (const route of from.fields("Route")) headers.add("Route", route);
  headers.add("From", from.get("From") ?? "");
  headers.add("To", to ?? from.get("To") ?? "");
  headers.add("Call-ID", from.get("Call-ID") ?? "");
  headers.add("CSeq", `${Number.parseInt(from.get("CSeq") ?? "", 10)} ${method}`);
  return sipRequest(method, uri, headers);
}

/** The ACK of a 300 to 699, part of the INVITE's own transaction (RFC 3261 section 17.1.1.3). */
export function ackOf(invite: SipRequest, response: SipResponse): SipRequest {
  return hopByHop("ACK", invite, response.headers.get("To"));
}

/** The CANCEL of an INVITE (RFC 3261 section 9.1), with the given value of a Reason field (RFC 3326). */
export function cancelOf(invite: SipRequest, reason: string | undefined): SipRequest {
  const cancel = hopByHop("CANCEL", invite, undefined);
  if (reason !== undefined) cancel.headers.add("Reason", reason);
  return cancel;
}
