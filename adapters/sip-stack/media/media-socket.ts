import { createSocket } from "node:dgram";
import { addressOnly } from "../transport/addresses.ts";
import { bindBunUdp } from "./bun-udp.ts";

/** A UDP socket for audio. */
export interface MediaSocket {
  /**
   * Hands a packet to the network, which may lose it. The array can be reused immediately.
   * @throws {Error} the socket is closed, or the address belongs to the other family
   */
  send(packet: Uint8Array, port: number, address: string): void;
  /** Resolves when the port is free again. */
  close(): Promise<void>;
}

/** Receives a datagram: its bytes, which the receiver may keep, and its source address. */
export type OnDatagram = (bytes: Uint8Array, address: string, port: number) => void;

/**
 * Binds a port on a local address; returns undefined if another program uses the port. Rejects if the address is not
 * local.
 */
type BindUdp = (address: string, port: number, onDatagram: OnDatagram) => Promise<MediaSocket | undefined>;

/** Bun's own sockets cost a tenth less than its `node:dgram`, which wraps them. */
export const bindMediaSocket: BindUdp = "Bun" in globalThis ? bindBunUdp : bindDgram;

/** True if a bind failed because the port is in use, so that another one may be free. */
export function isPortTaken(fault: unknown): boolean {
  const { code } = fault as { code?: unknown };
  return code === "EADDRINUSE" || code === "EACCES";
}

/**
 * Deno allocates an array of this size for every datagram, by default 64 KiB, which keeps its garbage collector busy.
 * In Deno this option does not change the operating system's socket; in other runtimes it would.
 */
const RECEIVE_OPTIONS = "Deno" in globalThis ? { recvBufferSize: 1_024 } : {};

/** Binds a `node:dgram` socket. */
function bindDgram(address: string, port: number, onDatagram: OnDatagram): Promise<MediaSocket | undefined> {
  const type = address.includes(":") ? "udp6" : "udp4";
  const socket = createSocket({ type, lookup: addressOnly as never, ...RECEIVE_OPTIONS });
  return new Promise((resolve, reject) => {
    socket.once("error", (fault) => {
      socket.close();
      if (isPortTaken(fault)) resolve(undefined);
      else reject(fault);
    });
    socket.bind(port, address, () => {
      socket.removeAllListeners("error");
      socket.on("error", () => {}); // an unreachable address: the media watch reports it
      socket.on("message", (bytes, from) => onDatagram(bytes, from.address, from.port));
      resolve({
        send: (packet, port, address) => socket.send(packet, port, address),
        close: () => new Promise((onClose) => socket.close(onClose)),
      });
    });
  });
}
