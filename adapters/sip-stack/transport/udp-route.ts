import type { System } from "../ports.ts";
import { networkFault, placeName, type SocketAddress, TransportError, unlessAborted } from "./transport.ts";
import { bindUdp, closeQuietly, connectUdp, type Family } from "./udp-socket.ts";

/** Time to wait for an ICMP error, ms. */
const LISTEN_MS = 1_000;
const CRLF = new Uint8Array([13, 10, 13, 10]);

/** Options of {@link exploreRoute}. */
export interface UdpRouteOptions {
  readonly to: SocketAddress;
  /** Our address. Default: chosen by the system. */
  readonly from: string | undefined;
  readonly system: System;
  /** True to send a keep-alive; otherwise only the system's routing table is used. */
  readonly probe: boolean;
  readonly onRefused: (fault: TransportError) => void;
  /** Aborts the exploration. */
  readonly signal: AbortSignal;
}

/**
 * Finds the local address that a peer is reached from, and checks that the peer is reachable.
 *
 * Only a connected socket reports an ICMP "port unreachable" and its own address; but it receives only from one
 * address, and a peer may send its requests from another one. So the trunk's own socket stays unconnected, and this
 * connected one sends a keep-alive that every SIP server ignores (RFC 5626), and waits for an ICMP error for a second.
 *
 * @returns our address; a wildcard on Deno, which reports neither the address nor ICMP errors
 * @throws {TransportError} there is no route to the peer
 */
export async function exploreRoute({ to, from, system, probe, onRefused, signal }: UdpRouteOptions): Promise<string> {
  const family: Family = to.address.includes(":") ? 6 : 4;
  const socket = await bindUdp(family, from, 0);
  const action = `reaching ${placeName("udp", to)} failed`;
  let stopTimer = (): void => {};
  let isClosed = false;
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    signal.removeEventListener("abort", close);
    stopTimer();
    closeQuietly(socket);
  };
  signal.addEventListener("abort", close, { once: true });
  try {
    if (signal.aborted) throw new TransportError("closed", "the trunk was closed");
    await unlessAborted(connectUdp(socket, to), signal);
  } catch (cause) {
    close();
    throw networkFault(cause, action);
  }
  const onError = (cause: unknown): void => {
    if (isClosed) return;
    close();
    onRefused(networkFault(cause, action));
  };
  socket.on("error", onError);
  const { address } = socket.address();
  if (!probe) {
    close();
    return address;
  }
  stopTimer = system.after(LISTEN_MS, close);
  try {
    socket.send(CRLF, (cause) => {
      if (cause) onError(cause);
    });
  } catch (cause) {
    onError(cause);
  }
  return address;
}
