import type { SipHeaders } from "./headers.ts";
import { responseTo, type SipResponse, sipRequest } from "./message.ts";
import { tagOf, withTag } from "./name-addr.ts";
import { parseVia } from "./via.ts";

/** What came is no SIP message that can be worked with. */
export interface MalformedMessage {
  readonly kind: "malformed";
  /** What is wrong with it, as a sentence. */
  readonly detail: string;
  /** The response to be sent, 400, 413, 505 or 513; undefined where it was no request, an ACK, or its Via is of no use. */
  readonly answer: SipResponse | undefined;
}

/** What is wrong, with the status that says so (RFC 3261 section 21). */
export interface Complaint {
  readonly status: number;
  readonly detail: string;
}

/** The request that could not be read, with as much of its header as there is; undefined for anything but a request. */
export interface Unreadable {
  readonly method: string;
  readonly headers: SipHeaders;
}

/** The malformed message; the refusal's reason phrase names what is wrong (RFC 3261 section 21.4.1). */
export function malformed(request: Unreadable | undefined, { status, detail }: Complaint): MalformedMessage {
  return { kind: "malformed", detail, answer: request === undefined ? undefined : refusal(request, status, detail) };
}

function refusal({ method, headers }: Unreadable, status: number, detail: string): SipResponse | undefined {
  const via = headers.list("Via")[0];
  if (method === "ACK" || via === undefined || parseVia(via) === undefined) return undefined;
  const answer = responseTo(sipRequest(method, "sip:unreadable.invalid", headers), status, detail);
  const to = answer.headers.get("To");
  if (to !== undefined && tagOf(to) === undefined) answer.headers.set("To", withTag(to, "malformed"));
  return answer;
}
