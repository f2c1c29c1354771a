import { canonicalAddress } from "../transport/addresses.ts";
import type { StreamSettings } from "./engine.ts";
import type { MediaSockets } from "./port-pairs.ts";
import type { Protection } from "./protection.ts";
import type { RemoteSource } from "./remote-source.ts";
import type { RtcpSession } from "./rtcp-session.ts";

/** Dependencies of {@link RtcpRoute}. */
export interface RtcpRouteOptions {
  readonly reports: RtcpSession;
  /** The source of the peer's audio. */
  readonly source: Pick<RemoteSource, "target">;
  readonly protection: Protection;
  readonly sockets: MediaSockets;
  /** True to accept reports only from negotiated addresses. */
  readonly strict: boolean;
}

/**
 * A call's RTCP route, multiplexed with RTP (RFC 5761) or on a separate port: decides which packets are accepted and
 * where we send reports.
 */
export class RtcpRoute {
  readonly #options: RtcpRouteOptions;
  readonly #remote = { address: "", port: 0 };
  #settings: StreamSettings | undefined;

  constructor(options: RtcpRouteOptions) {
    this.#options = options;
  }

  configure(settings: StreamSettings): void {
    const previous = this.#settings;
    this.#settings = settings;
    const { address, port } = settings.remoteRtcp;
    if (address !== previous?.remoteRtcp.address || port !== previous.remoteRtcp.port)
      this.#setRemote(canonicalAddress(address), port);
    if (settings.rtcpMux !== previous?.rtcpMux) this.#options.sockets.openRtcp(settings.rtcpMux);
  }

  /**
   * Reads a datagram; returns undefined if it is not from the peer, or not a report. `goodbye`: the peer's current
   * source has ended.
   */
  take(bytes: Uint8Array, address: string, port: number): "report" | "goodbye" | undefined {
    const { reports, source, protection, strict } = this.#options;
    const length = protection.unprotectRtcp(bytes, bytes.length);
    const isAuthentic = this.#settings?.srtp !== undefined && !strict;
    const isPeer = isAuthentic || address === source.target.address || address === this.#remote.address;
    const report = length > 0 && isPeer ? reports.take(bytes, length) : undefined;
    if (report !== undefined && !this.#settings?.rtcpMux && !strict) this.#setRemote(address, port); // symmetric, like RTP
    return report;
  }

  /** Sends our report. @param goodbye true to add a BYE */
  send(goodbye: boolean): void {
    const { reports, source, protection, sockets } = this.#options;
    const { bytes } = reports;
    const length = protection.protectRtcp(bytes, reports.write(goodbye));
    if (length <= 0) return;
    const packet = bytes.subarray(0, length);
    if (this.#settings?.rtcpMux) sockets.send(packet, source.target);
    else sockets.sendRtcp(packet, this.#remote);
  }

  #setRemote(address: string, port: number): void {
    this.#remote.address = address;
    this.#remote.port = port;
  }
}
