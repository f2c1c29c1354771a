import { parseCSeq } from "./cseq.ts";
import type { SipHeaders } from "./headers.ts";
import { type MalformedMessage, malformed } from "./malformed-message.ts";
import type { SipMessage } from "./message.ts";
import type { MessageError } from "./message-error.ts";
import type { MessageHead } from "./message-head.ts";
import { parseNameAddr } from "./name-addr.ts";
import type { StartLine } from "./start-line.ts";
import { parseVia } from "./via.ts";

/** The message (RFC 3261 section 7) with its body; or the first fault of its head, the given one, or one of its fields. */
export function completeMessage(
  head: MessageHead,
  body: Uint8Array,
  given?: MessageError,
): SipMessage | MalformedMessage {
  const { start, headers } = head;
  if (start === undefined) return malformed(head, head.error);
  const error = head.error ?? given ?? messageFault(start, headers);
  return error === undefined ? { ...start, headers, body } : malformed(head, error);
}

/** Fields that may occur only once (RFC 3261 section 20), as far as we depend on them. */
const SINGLE = ["From", "To", "Call-ID", "CSeq", "Max-Forwards"];

/** The fault of a message whose required fields (RFC 3261 section 8.1.1) are missing or malformed. */
export function messageFault(start: StartLine, headers: SipHeaders): MessageError | undefined {
  const detail = fieldFault(start, headers);
  return detail === undefined ? undefined : { status: 400, detail };
}

function fieldFault(start: StartLine, headers: SipHeaders): string | undefined {
  const repeated = SINGLE.find((name) => headers.fields(name).length > 1);
  if (repeated !== undefined) return `${repeated} occurs more than once`;
  const missing = ["Via", "From", "To", "Call-ID", "CSeq"].find((name) => !headers.get(name));
  if (missing !== undefined) return `${missing} is missing`;
  if (parseVia(headers.list("Via")[0] ?? "") === undefined) return "Via cannot be read";
  const address = ["From", "To"].find((name) => parseNameAddr(headers.get(name) ?? "") === undefined);
  if (address !== undefined) return `${address} cannot be read`;
  const cseq = parseCSeq(headers.get("CSeq"));
  if (cseq === undefined) return "CSeq cannot be read";
  if (start.kind === "response") return undefined;
  if (cseq.method !== start.method) return "CSeq names another method than the first line";
  const hops = headers.get("Max-Forwards");
  if (hops !== undefined && !(/^\d+$/.test(hops) && Number(hops) <= 255))
    return "Max-Forwards is not a number up to 255";
  return undefined;
}
