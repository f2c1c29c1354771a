import type { SocketAddress } from "../transport/transport.ts";

/** The sockets of a session. */
export interface MediaSockets {
  readonly port: number;
  /** Sends from the RTP port; the array may be used again at once. */
  send(packet: Uint8Array, to: SocketAddress): void;
  /** The same from the port for RTCP. */
  sendRtcp(packet: Uint8Array, to: SocketAddress): void;
  /** RTCP comes and goes on its own port, if that is free, or on the one for RTP. */
  openRtcp(multiplexed: boolean): void;
  close(): Promise<void>;
}
