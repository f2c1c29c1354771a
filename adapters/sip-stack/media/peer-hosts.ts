import { canonicalAddress, isPrivate, isWildcard } from "../transport/addresses.ts";
import type { SocketAddress } from "../transport/transport.ts";
import type { StreamSettings } from "./engine.ts";

/**
 * Treatment of audio from another host: our audio follows it; it is played, but our audio still goes to the peer; or it
 * is ignored.
 */
export type OtherHostPolicy = "followed" | "played" | "ignored";

/** Options of {@link PeerHosts}. */
export interface PeerHostsOptions {
  /** True if the operator has named the networks of remote audio: every host in them is followed. */
  readonly hasNamedNetworks?: boolean | undefined;
}

/**
 * The hosts of a peer, from its SDP and its signalling. Only packets from these hosts prove that the peer is alive.
 * Other hosts are accepted as far as the SDP requires it (RFC 7362). If the SDP names the signalling host, there is no
 * NAT in between, and other hosts are ignored. If it names a private host or none, audio can only be sent to the source
 * of the peer's audio, which is followed. Any other host is reachable, so audio is sent there, but the peer may send
 * from another host, whose audio is played.
 */
export class PeerHosts {
  readonly #hasNamedNetworks: boolean;
  readonly #hosts = new Set<string>();
  #otherHostPolicy: OtherHostPolicy = "followed";

  constructor({ hasNamedNetworks = false }: PeerHostsOptions = {}) {
    this.#hasNamedNetworks = hasNamedNetworks;
  }

  /** Treatment of audio from other hosts. */
  get otherHosts(): OtherHostPolicy {
    return this.#otherHostPolicy;
  }

  /** Applies a negotiation. */
  apply({ remote, remoteRtcp, signallingHosts = [] }: Hosts): void {
    this.#hosts.clear();
    for (const host of signallingHosts) this.#hosts.add(canonicalAddress(host));
    const address = canonicalAddress(remote.address);
    if (this.#hasNamedNetworks || isWildcard(address)) this.#otherHostPolicy = "followed";
    else if (this.#hosts.has(address)) this.#otherHostPolicy = "ignored";
    else this.#otherHostPolicy = isPrivate(address) ? "followed" : "played";
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
