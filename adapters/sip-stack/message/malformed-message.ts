import { responseTo, type SipResponse, sipRequest } from "./message.ts";
import type { MessageError } from "./message-error.ts";
import type { MessageHead } from "./message-head.ts";
import { tagOf, withTag } from "./name-addr.ts";
import { parseVia } from "./via.ts";

/** A malformed message (RFC 3261 section 21.4.1). */
export interface MalformedMessage {
  readonly kind: "malformed";
  /** The fault. */
  readonly detail: string;
  /** The response to send: 400, 413, 505 or 513. Undefined for a response, an ACK, or an unreadable Via. */
  readonly answer: SipResponse | undefined;
}

/** The malformed message with this head; the reason phrase of its response names the fault. */
export function malformed(head: Pick<MessageHead, "start" | "headers">, error: MessageError): MalformedMessage {
  return { kind: "malformed", detail: error.detail, answer: refusal(head, error) };
}

function refusal(
  { start, headers }: Pick<MessageHead, "start" | "headers">,
  { status, detail }: MessageError,
): SipResponse | undefined {
  const [sentBy = ""] = (headers.list("Via")[0] ?? "").split(";", 1);
  if (start?.kind !== "request" || start.method === "ACK" || parseVia(sentBy) === undefined) return undefined;
  const answer = responseTo(sipRequest(start.method, start.uri, headers), status, detail);
  const to = answer.headers.get("To");
  if (to !== undefined && tagOf(to) === undefined) answer.headers.set("To", withTag(to, "malformed"));
  return answer;
}
