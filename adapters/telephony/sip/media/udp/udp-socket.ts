import { bindBunUdp } from "./bun-udp.ts";
import { bindDgram } from "./dgram.ts";

/** A UDP socket for audio. */
export interface UdpSocket {
  /**
   * Hands a packet to the network, from where it may get lost; its bytes may be used again at once.
   * @throws {Error} it is closed, or the address is of the other family
   */
  send(packet: Uint8Array, port: number, address: string): void;
  /** Resolves when the port is free again. */
  close(): Promise<void>;
}

/** Takes a datagram: its bytes, which are the taker's from then on, and who has sent it. */
export type TakeDatagram = (bytes: Uint8Array, address: string, port: number) => void;

/** Binds a port of an address of ours; undefined where somebody else has it. Rejects for an address that is not ours. */
export type BindUdp = (address: string, port: number, take: TakeDatagram) => Promise<UdpSocket | undefined>;

/** Bun's own sockets cost a tenth less than its `node:dgram`, which wraps them. */
export const bindUdp: BindUdp = "Bun" in globalThis ? bindBunUdp : bindDgram;
