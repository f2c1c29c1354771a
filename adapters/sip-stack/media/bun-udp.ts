import { isPortTaken, type MediaSocket, type OnDatagram } from "./media-socket.ts";

// The part of Bun that is used here; its type package stays out of the published types.
interface BunUdpSocket {
  send(packet: Uint8Array, port: number, address: string): boolean;
  close(): void;
}
interface BunUdpOptions {
  readonly hostname: string;
  readonly port: number;
  readonly socket: {
    data(socket: BunUdpSocket, bytes: Uint8Array, port: number, address: string): void;
    error(socket: BunUdpSocket, fault: Error): void;
  };
}
declare const Bun: { udpSocket(options: BunUdpOptions): Promise<BunUdpSocket> };

/** Binds a UDP socket with Bun's native API. */
export async function bindBunUdp(
  address: string,
  port: number,
  onDatagram: OnDatagram,
): Promise<MediaSocket | undefined> {
  try {
    const socket = await Bun.udpSocket({
      hostname: address,
      port,
      socket: {
        data: (_, bytes, port, address) => onDatagram(bytes, address, port),
        error() {}, // an unreachable address: the media watch reports it
      },
    });
    return {
      send: (packet, port, address) => void socket.send(packet, port, address),
      close: async () => socket.close(),
    };
  } catch (fault) {
    if (isPortTaken(fault)) return undefined;
    throw fault;
  }
}
