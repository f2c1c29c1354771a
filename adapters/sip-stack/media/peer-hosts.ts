import { canonicalAddress, isPrivate, isWildcard } from "../transport/addresses.ts";
import type { SocketAddress } from "../transport/transport.ts";
import type { StreamSettings } from "./engine.ts";

/** Treatment of audio from another host: ours is sent there; it is heard, and ours is still sent to the peer; or nothing. */
export type OtherHosts = "followed" | "heard" | "ignored";

/** Options of {@link PeerHosts}. */
export interface PeerHostsOptions {
  /** The operator has named the networks of remote audio: every host in them is followed. */
  readonly named?: boolean | undefined;
}

/**
 * The hosts of a peer: that of its SDP, and that of its signalling. Only they prove by their packets that the peer is there.
 * Another one is believed as far as the SDP requires it (RFC 7362): if it names the host that the signalling goes to, there
 * is no NAT in between. If it names a private host, or none, audio can only go where the peer's comes from. Any other host
 * can be reached, so audio goes there, but the peer may send from another one.
 */
export class PeerHosts {
  readonly #named: boolean;
  readonly #hosts = new Set<string>();
  #others: OtherHosts = "followed";

  constructor({ named = false }: PeerHostsOptions = {}) {
    this.#named = named;
  }

  /** Treatment of audio from other hosts. */
  get others(): OtherHosts {
    return this.#others;
  }

  /** Applies a negotiation. */
  settle({ remote, remoteRtcp, signallingHosts = [] }: Hosts): void {
    this.#hosts.clear();
    for (const host of signallingHosts) this.#hosts.add(canonicalAddress(host));
    const address = canonicalAddress(remote.address);
    if (this.#named || isWildcard(address)) this.#others = "followed";
    else if (this.#hosts.has(address)) this.#others = "ignored";
    else this.#others = isPrivate(address) ? "followed" : "heard";
    for (const host of [remote.address, remoteRtcp.address])
      if (!isWildcard(host)) this.#hosts.add(canonicalAddress(host));
  }

  has(address: string): boolean {
    return this.#hosts.has(address);
  }
}

type Hosts = Pick<StreamSettings, "signallingHosts"> & {
  readonly remote: SocketAddress;
  readonly remoteRtcp: SocketAddress;
};
