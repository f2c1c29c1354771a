import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { addressOnly } from "./addresses.ts";
import { networkFault, placeName, type SocketAddress, TransportError } from "./transport.ts";

export type Family = 4 | 6;

/** Receive buffer for about a thousand messages, which may arrive while the event loop is busy. */
const RECEIVE_BUFFER_BYTES = 1 << 20;

/** A bound socket of one address family; for port 0 the system chooses. @throws {TransportError} */
export async function bindUdp(family: Family, address: string | undefined, port: number): Promise<Socket> {
  const socket = createSocket({
    type: family === 4 ? "udp4" : "udp6",
    lookup: addressOnly as never,
    ...(family === 6 ? { ipv6Only: true } : {}),
  });
  const host = address ?? (family === 4 ? "0.0.0.0" : "::");
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.bind({ address: host, port, exclusive: true }, () => {
        socket.off("error", reject);
        resolve();
      });
    });
  } catch (cause) {
    closeQuietly(socket);
    throw networkFault(cause, `binding ${placeName("udp", { address: host, port })} failed`);
  }
  return socket;
}

/** Connects a socket to one peer, so that it reports ICMP errors about that peer. */
export function connectUdp(socket: Socket, { address, port }: SocketAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.connect(port, address, () => {
      socket.off("error", reject);
      resolve();
    });
  });
}

/** Receives a datagram. Must not throw. */
export type Receive = (socket: UdpSocket, bytes: Uint8Array, from: SocketAddress) => void;

/** Our unconnected UDP socket for one address family. */
export class UdpSocket {
  readonly boundAddress: SocketAddress;
  readonly #socket: Socket;
  #closed: Promise<void> | undefined;

  private constructor(socket: Socket, receive: Receive) {
    this.#socket = socket;
    const { address, port } = socket.address();
    this.boundAddress = { address, port };
    socket.on("message", (bytes: Uint8Array, { address: from, port: at }: RemoteInfo) =>
      receive(this, bytes, { address: from, port: at }),
    );
    // An ICMP error does not affect the socket, and does not name the peer: see exploreRoute.
    socket.on("error", () => {});
    try {
      socket.setRecvBufferSize(RECEIVE_BUFFER_BYTES);
    } catch {
      // the default size is sufficient
    }
  }

  static async open(family: Family, address: string | undefined, port: number, receive: Receive): Promise<UdpSocket> {
    return new UdpSocket(await bindUdp(family, address, port), receive);
  }

  get isOpen(): boolean {
    return this.#closed === undefined;
  }

  /** Sends a datagram; `onFailure` is called if the system refuses it. */
  send(bytes: Uint8Array, to: SocketAddress, onFailure: (fault: TransportError) => void): void {
    if (!this.isOpen) throw new TransportError("closed", "the UDP socket is closed");
    const onSent = (cause: unknown): void => {
      if (cause && this.isOpen) onFailure(networkFault(cause, `sending to ${placeName("udp", to)} failed`));
    };
    try {
      this.#socket.send(bytes, to.port, to.address, onSent);
    } catch (cause) {
      onSent(cause);
    }
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#socket.once("close", () => resolve());
      this.#socket.close();
    });
    return this.#closed;
  }
}

/** Closes a socket, even if it is already closed. */
export function closeQuietly(socket: Socket): void {
  try {
    socket.close();
  } catch {
    // it was closed
  }
}
