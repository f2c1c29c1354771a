import type { System } from "../../ports/system.ts";
import type { FakePeerConnection, FakeWrtc } from "./peer-connection.ts";

/** The port on which the client dials every relay. Its callee hears us there, but no audio comes back. */
export const CLIENT_PORT = 3478;
/** The port of WhatsApp Web, which carries both directions. */
export const WEB_PORT = 3480;

/** A relay of the network. */
export interface FakeRelay {
  readonly ip: string;
  /** Ports on which it responds. Default: 3478 and 3480. */
  readonly ports?: readonly number[];
  /**
   * True if the relay is reached over plain UDP ("FNA"): it counts as connected as soon as its socket exists, whether
   * or not it responds. Default: false.
   */
  readonly isFna?: boolean;
}

/** Options of {@link CallRelays}. */
export interface CallRelaysOptions {
  readonly system: System;
  readonly relays: readonly FakeRelay[];
  /** The package with the peer connections, as the client imports it. */
  readonly wrtc: FakeWrtc;
  /** Called when the first relay is connected. */
  readonly onConnected: () => void;
}

/**
 * The relays of one call, dialled as zapo 1.8 does: all of them on port 3478, through peer connections unless they are
 * FNA.
 */
export class CallRelays {
  readonly #options: CallRelaysOptions;
  readonly #connections: FakePeerConnection[] = [];
  /** Ports of connected relays that respond. */
  readonly #ports = new Set<number>();
  #isConnected = false;

  constructor(options: CallRelaysOptions) {
    this.#options = options;
    this.dial();
  }

  /** True once a relay is connected. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Dials all relays, unless one is connected: the client does so at the offer's ack, and again at the answer. */
  dial(): void {
    if (this.#isConnected) return;
    for (const relay of this.#options.relays) {
      if (relay.isFna === true) this.#openSocket(relay);
      else void this.#dial(relay).catch(() => {}); // the client logs it, and the others continue
    }
  }

  /** True if a connected relay passes our audio on. */
  get carriesAudio(): boolean {
    return this.#ports.size > 0;
  }

  /** True if a connected relay returns the callee's audio. */
  get returnsAudio(): boolean {
    return this.#ports.has(WEB_PORT);
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  #openSocket(relay: FakeRelay): void {
    this.#options.system.after(0, () => this.#onConnected(responds(relay, CLIENT_PORT) ? CLIENT_PORT : undefined));
  }

  async #dial({ ip }: FakeRelay): Promise<void> {
    const connection = new this.#options.wrtc.RTCPeerConnection({ iceServers: [] });
    this.#connections.push(connection);
    const channel = connection.createDataChannel("wa-web-call", { ordered: false });
    channel.onopen = () => this.#onConnected(connection.remotePort);
    const { sdp } = await connection.createOffer();
    await connection.setLocalDescription({ type: "offer", sdp });
    const candidate = `a=candidate:2 1 udp 2122262783 ${ip} ${CLIENT_PORT} typ host generation 0 network-cost 5`;
    await connection.setRemoteDescription({ type: "answer", sdp: `${sdp}${candidate}\r\na=end-of-candidates\r\n` });
  }

  #onConnected(port: number | undefined): void {
    if (port !== undefined) this.#ports.add(port);
    if (this.#isConnected) return;
    this.#isConnected = true;
    this.#options.onConnected();
  }
}

/** True if a relay responds on a port. */
export function responds({ ports = [CLIENT_PORT, WEB_PORT] }: FakeRelay, port: number): boolean {
  return ports.includes(port);
}
