import { parseVia, writeVia } from "../message/header-values.ts";
import type { SipMessage } from "../message/sip-message.ts";
import type { SocketAddress } from "./transport.ts";

/** A received message, and the address that the response to it is sent to (RFC 3261 section 18.2.2, RFC 3581 section 4). */
interface Incoming {
  readonly message: SipMessage;
  readonly replyTo: SocketAddress;
}

/**
 * Prepares a message for the layers above: adds the source address to the topmost Via of a request (`received`, and
 * `rport` on request), so that the response passes a NAT.
 */
export function prepareIncoming(message: SipMessage, from: SocketAddress): Incoming {
  if (message.kind === "response") return { message, replyTo: from };
  const [topVia = "", ...otherVias] = message.headers.list("Via");
  const via = parseVia(topVia);
  if (via === undefined) return { message, replyTo: from };
  const isSymmetric = via.params.has("rport");
  if (isSymmetric || via.host !== from.address) {
    const params = new Map(via.params);
    params.set("received", from.address);
    if (isSymmetric) params.set("rport", String(from.port));
    message.headers.delete("Via");
    for (const otherVia of otherVias.reverse()) message.headers.addFirst("Via", otherVia);
    message.headers.addFirst("Via", writeVia({ ...via, params }));
  }
  return { message, replyTo: isSymmetric ? from : { address: from.address, port: via.port ?? 5060 } };
}
