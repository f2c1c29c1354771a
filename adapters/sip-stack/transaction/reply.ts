import type { SipResponse } from "../message/message.ts";
import { parseVia } from "../message/via.ts";
import type { Flow, Hop, Transports } from "../transport/transport.ts";
import { defaultPort } from "../transport/transport.ts";

/**
 * Sends a response to the source of its request; if that connection is closed, on a new one to the address in the
 * request's Via (RFC 3261 section 18.2.2). A response that cannot be sent is dropped: the peer retransmits its request.
 */
export async function reply(
  transports: Transports,
  response: SipResponse,
  flow: Flow,
  signal: AbortSignal,
): Promise<void> {
  try {
    if (flow.alive) {
      flow.send(response);
      return;
    }
    const hop = hopBack(response, flow);
    if (hop !== undefined) (await transports.connect(hop, signal)).send(response);
  } catch {
    // dropped
  }
}

function hopBack(response: SipResponse, { kind, remote }: Flow): Hop | undefined {
  const via = parseVia(response.headers.list("Via")[0] ?? "");
  if (via === undefined || kind === "udp") return undefined;
  return { kind, host: via.host, address: remote.address, port: via.port ?? defaultPort(kind) };
}
