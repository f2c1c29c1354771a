import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { networkFault, placeName } from "./network-fault.ts";
import { type SocketAddress, TransportError } from "./transport.ts";

export type Family = 4 | 6;

/** Room for what comes while the event loop is busy: about a thousand messages. */
const RECEIVE_BUFFER_BYTES = 1 << 20;

/** Addresses only: nothing is ever looked up here, not even by a detour through the next turn of the event loop. */
function lookup(
  host: string,
  options: unknown,
  found: (fault: Error | null, address: string, family: number) => void,
): void {
  void options;
  found(null, host, host.includes(":") ? 6 : 4);
}

/** A socket of one address family that is bound; port 0 lets the system choose. @throws {TransportError} */
export async function bindUdp(family: Family, address: string | undefined, port: number): Promise<Socket> {
  const socket = createSocket({
    type: family === 4 ? "udp4" : "udp6",
    lookup: lookup as never,
    ...(family === 6 ? { ipv6Only: true } : {}),
  });
  const host = address ?? (family === 4 ? "0.0.0.0" : "::");
  try {
    await new Promise<void>((bound, failed) => {
      socket.once("error", failed);
      socket.bind({ address: host, port, exclusive: true }, () => {
        socket.off("error", failed);
        bound();
      });
    });
  } catch (cause) {
    closeQuietly(socket);
    throw networkFault(cause, `Binding ${placeName("udp", { address: host, port })} failed`);
  }
  return socket;
}

/** Lets a socket speak to one peer only, so that it hears what the network says about that peer. */
export function connectUdp(socket: Socket, { address, port }: SocketAddress): Promise<void> {
  return new Promise((connected, failed) => {
    socket.once("error", failed);
    socket.connect(port, address, () => {
      socket.off("error", failed);
      connected();
    });
  });
}

/** Takes a datagram. Must not throw. */
export type Receive = (socket: UdpSocket, bytes: Uint8Array, from: SocketAddress) => void;

/** Our UDP socket of one address family: takes from everybody, sends to anybody. */
export class UdpSocket {
  readonly bound: SocketAddress;
  readonly #socket: Socket;
  #closed: Promise<void> | undefined;

  private constructor(socket: Socket, receive: Receive) {
    this.#socket = socket;
    const { address, port } = socket.address();
    this.bound = { address, port };
    socket.on("message", (bytes: Uint8Array, { address: from, port: at }: RemoteInfo) =>
      receive(this, bytes, { address: from, port: at }),
    );
    // What a datagram met on its way is not the socket's fault, and not said about which one it was: see UdpRoute.
    socket.on("error", () => {});
    try {
      socket.setRecvBufferSize(RECEIVE_BUFFER_BYTES);
    } catch {
      // the system's own size will do
    }
  }

  static async open(family: Family, address: string | undefined, port: number, receive: Receive): Promise<UdpSocket> {
    return new UdpSocket(await bindUdp(family, address, port), receive);
  }

  get open(): boolean {
    return this.#closed === undefined;
  }

  /** Sends a datagram; `failed` is told where the system would not take it. */
  send(bytes: Uint8Array, to: SocketAddress, failed: (fault: TransportError) => void): void {
    if (!this.open) throw new TransportError("closed", "The UDP socket is closed");
    const done = (cause: unknown): void => {
      if (cause && this.open) failed(networkFault(cause, `Sending to ${placeName("udp", to)} failed`));
    };
    try {
      this.#socket.send(bytes, to.port, to.address, done);
    } catch (cause) {
      done(cause);
    }
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((closed) => {
      this.#socket.once("close", () => closed());
      this.#socket.close();
    });
    return this.#closed;
  }
}

/** Closes a socket that may be closed already. */
export function closeQuietly(socket: Socket): void {
  try {
    socket.close();
  } catch {
    // it was closed
  }
}
