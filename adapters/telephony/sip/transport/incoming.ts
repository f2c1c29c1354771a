import type { SipMessage } from "../message/message.ts";
import { parseVia, writeVia } from "../message/via.ts";
import type { SocketAddress } from "./transport.ts";

/** Where the response to a request goes (RFC 3261 section 18.2.2, RFC 3581 section 4). */
export interface Incoming {
  readonly message: SipMessage;
  readonly replyTo: SocketAddress;
}

/**
 * A message as the layers above see it: the topmost Via of a request says where it really came from (`received`, and
 * `rport` where it asks), so that its response finds the way back through a NAT.
 */
export function incoming(message: SipMessage, from: SocketAddress): Incoming {
  if (message.kind === "response") return { message, replyTo: from };
  const [top = "", ...others] = message.headers.list("Via");
  const via = parseVia(top);
  if (via === undefined) return { message, replyTo: from };
  const symmetric = via.params.has("rport");
  if (symmetric || via.host !== from.address) {
    const params = new Map(via.params);
    params.set("received", from.address);
    if (symmetric) params.set("rport", String(from.port));
    message.headers.delete("Via");
    for (const other of others.reverse()) message.headers.addFirst("Via", other);
    message.headers.addFirst("Via", writeVia({ ...via, params }));
  }
  return { message, replyTo: symmetric ? from : { address: from.address, port: via.port ?? 5060 } };
}
