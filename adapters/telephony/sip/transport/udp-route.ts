import type { System } from "../../../../src/ports/system.ts";
import { networkFault, placeName } from "./network-fault.ts";
import { type SocketAddress, TransportError } from "./transport.ts";
import { bindUdp, closeQuietly, connectUdp, type Family } from "./udp-socket.ts";
import { unlessAborted } from "./unless-aborted.ts";

/** For so long the network may say that nobody is there, ms. */
const LISTEN_MS = 1_000;
const CRLF = new Uint8Array([13, 10, 13, 10]);

/** What a look at the way to a peer needs. */
export interface UdpRouteOptions {
  readonly to: SocketAddress;
  /** Our own address, where it is not left to the system. */
  readonly from: string | undefined;
  readonly system: System;
  /** Without it nothing is sent: only the system is asked. */
  readonly probe: boolean;
  readonly refused: (fault: TransportError) => void;
  /** Ends the look before its time. */
  readonly signal: AbortSignal;
}

/**
 * Asks the system for our address towards a peer, and the network whether there is a peer.
 *
 * Only a connected socket hears of an ICMP "port unreachable", and only it knows its own address; but a connected socket
 * hears nobody else, while a far side may send its requests from another address than it takes ours at. So the trunk's
 * own socket stays unconnected, and this one, connected, sends a keep-alive that every SIP server ignores (RFC 5626) and
 * listens for a second.
 *
 * @returns our address on this way; a wildcard where the runtime does not tell, which is also where it hears of no ICMP (Deno)
 * @throws {TransportError} there is no way to the peer
 */
export async function exploreRoute({ to, from, system, probe, refused, signal }: UdpRouteOptions): Promise<string> {
  const family: Family = to.address.includes(":") ? 6 : 4;
  const socket = await bindUdp(family, from, 0);
  const what = `Reaching ${placeName("udp", to)} failed`;
  let stopTimer = (): void => {};
  let closed = false;
  const close = (): void => {
    if (closed) return;
    closed = true;
    signal.removeEventListener("abort", close);
    stopTimer();
    closeQuietly(socket);
  };
  signal.addEventListener("abort", close, { once: true });
  try {
    if (signal.aborted) throw new TransportError("closed", "The trunk was closed");
    await unlessAborted(connectUdp(socket, to), signal);
  } catch (cause) {
    close();
    throw networkFault(cause, what);
  }
  const failed = (cause: unknown): void => {
    if (closed) return;
    close();
    refused(networkFault(cause, what));
  };
  socket.on("error", failed);
  const { address } = socket.address();
  if (!probe) {
    close();
    return address;
  }
  stopTimer = system.after(LISTEN_MS, close);
  try {
    socket.send(CRLF, (cause) => {
      if (cause) failed(cause);
    });
  } catch (cause) {
    failed(cause);
  }
  return address;
}
