import { createSocket } from "node:dgram";
import { addressOnly } from "../../transport/address-only.ts";
import { isTaken } from "./faults.ts";
import type { TakeDatagram, UdpSocket } from "./udp-socket.ts";

/**
 * Deno makes an array of this size for every datagram, without it of 64 KiB, which keeps its garbage collector busy; at the
 * system's socket it changes nothing there. Elsewhere that is what it would do.
 */
const RECEIVE = "Deno" in globalThis ? { recvBufferSize: 1_024 } : {};

/** Binds a socket of `node:dgram`. */
export function bindDgram(address: string, port: number, take: TakeDatagram): Promise<UdpSocket | undefined> {
  const type = address.includes(":") ? "udp6" : "udp4";
  const socket = createSocket({ type, lookup: addressOnly as never, ...RECEIVE });
  return new Promise((resolve, reject) => {
    socket.once("error", (fault) => {
      socket.close();
      if (isTaken(fault)) resolve(undefined);
      else reject(fault);
    });
    socket.bind(port, address, () => {
      socket.removeAllListeners("error");
      socket.on("error", () => {}); // an address that cannot be reached: the watchdog will tell
      socket.on("message", (bytes, from) => take(bytes, from.address, from.port));
      resolve({
        send: (packet, port, address) => socket.send(packet, port, address),
        close: () => new Promise((closed) => socket.close(closed)),
      });
    });
  });
}
