import type { Complaint } from "./complaint.ts";
import { responseTo, type SipResponse, sipRequest } from "./message.ts";
import type { MessageHead } from "./message-head.ts";
import { tagOf, withTag } from "./name-addr.ts";
import { parseVia } from "./via.ts";

/** What came is no SIP message that can be worked with. */
export interface MalformedMessage {
  readonly kind: "malformed";
  /** What is wrong with it, as a sentence. */
  readonly detail: string;
  /** The response to be sent, 400, 413, 505 or 513; undefined where it was no request, an ACK, or nobody knows whose. */
  readonly answer: SipResponse | undefined;
}

/** The malformed message with this head; the refusal's reason phrase names what is wrong (RFC 3261 section 21.4.1). */
export function malformed(head: Pick<MessageHead, "start" | "headers">, complaint: Complaint): MalformedMessage {
  return { kind: "malformed", detail: complaint.detail, answer: refusal(head, complaint) };
}

function refusal(
  { start, headers }: Pick<MessageHead, "start" | "headers">,
  { status, detail }: Complaint,
): SipResponse | undefined {
  const [sentBy = ""] = (headers.list("Via")[0] ?? "").split(";", 1);
  if (start?.kind !== "request" || start.method === "ACK" || parseVia(sentBy) === undefined) return undefined;
  const answer = responseTo(sipRequest(start.method, start.uri, headers), status, detail);
  const to = answer.headers.get("To");
  if (to !== undefined && tagOf(to) === undefined) answer.headers.set("To", withTag(to, "malformed"));
  return answer;
}
