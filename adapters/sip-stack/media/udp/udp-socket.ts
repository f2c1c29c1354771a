import { bindBunUdp } from "./bun-udp.ts";
import { bindDgram } from "./dgram.ts";

/** A UDP socket for audio. */
export interface UdpSocket {
  /**
   * Hands a packet to the network, which may lose it; its bytes may be used again at once.
   * @throws {Error} it is closed, or the address is of the other family
   */
  send(packet: Uint8Array, port: number, address: string): void;
  /** Resolves when the port is free again. */
  close(): Promise<void>;
}

/** Receives a datagram: its bytes, which the receiver may keep, and its source address. */
export type TakeDatagram = (bytes: Uint8Array, address: string, port: number) => void;

/** Binds a port of a local address; undefined if another program has it. Rejects for an address that is not ours. */
export type BindUdp = (address: string, port: number, take: TakeDatagram) => Promise<UdpSocket | undefined>;

/** Bun's own sockets cost a tenth less than its `node:dgram`, which wraps them. */
export const bindUdp: BindUdp = "Bun" in globalThis ? bindBunUdp : bindDgram;
