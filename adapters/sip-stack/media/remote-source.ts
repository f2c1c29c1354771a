import { canonicalAddress } from "../transport/addresses.ts";
import type { SocketAddress } from "../transport/transport.ts";
import { type OtherHostPolicy, PeerHosts } from "./peer-hosts.ts";
import type { RtpPacket } from "./rtp-packet.ts";
import { SourceCandidate } from "./source-candidate.ts";

/** Silence after which another source may replace the current one, ms. */
const QUIET_MS = 2_000;
/** Silence after which another source at the peer's address may replace the current one, ms: a few packets. */
const PAUSE_MS = 80;
/**
 * Silence at its address after which the current source may move to another host, or yield to an authentic source, ms.
 */
const MOVE_MS = 200;
/** Time for which packets from the source before a negotiation may still arrive, ms. */
const PREVIOUS_TAIL_MS = 2_000;
/** Maximum jump ahead of the sequence number with which a source continues (RFC 3550 appendix A.1). */
const MAX_AHEAD = 3_000;
/** Number of consecutive packets that a new source needs: at a known address, at a known host, anywhere. */
const PACKETS_AT_ADDRESS = 2;
const PACKETS_AT_HOST = 3;
const PACKETS_AT_OTHER_HOST = 5;
/** Maximum size of an accepted datagram, bytes: larger ones carry no telephone audio. */
const MAX_BYTES = 1500;
/**
 * Maximum number of packets kept until a source is accepted that is authentic or at the peer's address; otherwise one
 * packet is kept.
 */
const MAX_PENDING = 8;

/**
 * Verdict on a packet: from the current source; the first from a newly accepted source (`new`, with the packets that
 * were `pending` before it); from a candidate (`pending`); or from a stranger.
 */
export type Verdict = "current" | "new" | "pending" | "foreign";

/**
 * The source that counts as the peer (symmetric RTP, RFC 4961; protection against strangers, RFC 7362 section 4). The
 * negotiated address is always accepted immediately; another host only as far as {@link PeerHosts} allows, or if
 * authenticated by SRTP. A source that moves, recognized by its SSRC and next sequence number, is followed: to another
 * port immediately, to another host after 200 ms of silence at its old address. Another authentic source is accepted
 * after the same silence. Another source at the same address replaces a stopped one after 80 ms. Any other source
 * replaces the current one only with several packets in a row, after the current one has been silent for 2 s. The
 * replaced source returns with its next packet.
 */
export class RemoteSource implements SocketAddress {
  /** The address of the source: first as negotiated, then as learnt. */
  address = "";
  port = 0;
  /** SSRC of the current source; -1 before its first packet. */
  ssrc = -1;
  /** The packets before the first one of the source that has just begun, and their lengths. */
  readonly pending: Uint8Array[] = [];
  readonly pendingLengths: number[] = [];
  /** True if packets from an ignored host have arrived. */
  hasHeardIgnoredHost = false;
  readonly #hosts: PeerHosts;
  readonly #isStrict: boolean;
  #negotiated: SocketAddress = { address: "", port: 0 };
  /** The highest sequence number of the current source. */
  #sequence = 0;
  #lastPacketAt = 0;
  /** Time of its latest packet from its current address. */
  #lastAtAddress = 0;
  /** True if SRTP authenticated the packet that led to the current address. */
  #isAuthentic = false;
  /** The source that another source, perhaps a stranger, has displaced; SSRC -1 for none. */
  readonly #displacedStream = { ssrc: -1, sequence: 0 };
  /** The address before the last negotiation, and the time until which its last packets may arrive. */
  readonly #previousAddress = { address: "", port: 0, until: 0 };
  readonly #candidate = new SourceCandidate();
  #injectedPackets = 0;
  /**
   * Number of packets from a source that has displaced another one; they count as injected if the displaced source
   * returns.
   */
  #unconfirmedPackets = 0;

  /** @param strict true to trust only the negotiated address */
  constructor(hosts: PeerHosts = new PeerHosts(), strict = false) {
    this.#hosts = hosts;
    this.#isStrict = strict;
  }

  /** Destination of our audio. */
  get target(): SocketAddress {
    return this.#otherHostPolicy === "followed" ? this : this.#negotiated;
  }

  /** Treatment of the current address. */
  get #otherHostPolicy(): OtherHostPolicy {
    return this.#isAuthentic || this.#isPeer(this.address) ? "followed" : this.#hosts.otherHosts;
  }

  /** Number of RTP packets from strangers. */
  get injected(): number {
    return this.#injectedPackets + this.#candidate.untrustedPackets;
  }

  /** Counts an unauthentic packet, unless it is from the peer's address: then the keys are wrong. */
  countForged(address: string, port: number): void {
    if (!this.isAt(address, port)) this.#injectedPackets++;
  }

  /**
   * Applies a negotiated address; a learnt address stays unless the negotiated one changed, or the learnt one is now
   * ignored.
   */
  setRemote(remote: SocketAddress, now: number): void {
    const address = canonicalAddress(remote.address);
    const isSame = address === this.#negotiated.address && remote.port === this.#negotiated.port;
    if (isSame && this.#otherHostPolicy !== "ignored") return;
    if (this.ssrc >= 0) {
      this.#previousAddress.address = this.address;
      this.#previousAddress.port = this.port;
      this.#previousAddress.until = now + PREVIOUS_TAIL_MS;
    }
    this.#negotiated = { address, port: remote.port };
    this.#move(address, remote.port, false);
    this.ssrc = -1;
    this.#displacedStream.ssrc = -1;
    this.#unconfirmedPackets = 0;
    this.#dropCandidate();
  }

  /** True if this is the peer's address. */
  isAt(address: string, port: number): boolean {
    return port === this.port && address === this.address;
  }

  /**
   * Judges a packet from this address; the array of a pending packet is kept.
   * @param isAuthentic true if SRTP authenticated it
   */
  judge(
    packet: RtpPacket,
    bytes: Uint8Array,
    length: number,
    address: string,
    port: number,
    now: number,
    isAuthentic: boolean,
  ): Verdict {
    const isAtAddress = this.isAt(address, port);
    const isCurrent = packet.ssrc === this.ssrc;
    if (isAtAddress && isCurrent) return this.#continueSource(packet, now);
    const isNegotiated = port === this.#negotiated.port && address === this.#negotiated.address;
    if (isNegotiated && (!isAtAddress || this.ssrc < 0)) {
      this.#dropPending();
      this.#move(address, port, isAuthentic);
      this.#restore();
      return isCurrent ? this.#continueSource(packet, now) : this.#startSource(packet, now);
    }
    if (this.#isStrict && !isNegotiated) return this.#refuse();
    if (!isAuthentic && this.#isIgnored(address)) {
      if (this.#isPrevious(address, port, now)) return "foreign";
      this.hasHeardIgnoredHost = true;
      return this.#refuse();
    }
    if (packet.ssrc === this.#displacedStream.ssrc && isNext(packet.sequence, this.#displacedStream.sequence)) {
      this.#dropPending();
      this.#move(address, port, isAuthentic);
      this.#restore();
      return this.#startSource(packet, now);
    }
    if (!isAtAddress) {
      const isNextPacket = isCurrent && isNext(packet.sequence, this.#sequence);
      const hasMoved = isNextPacket && (address === this.address || now - this.#lastAtAddress >= MOVE_MS);
      if (hasMoved) this.#move(address, port, isAuthentic);
      if (hasMoved || (isCurrent && isAuthentic)) return this.#continueSource(packet, now, hasMoved);
      if (this.#isPrevious(address, port, now)) return "foreign";
    }
    const quietMs = this.ssrc < 0 ? Number.POSITIVE_INFINITY : now - this.#lastPacketAt;
    const isTrusted = isAtAddress || isAuthentic;
    if (!isTrusted && quietMs < QUIET_MS) return this.#refuse();
    const isTooEarly = quietMs < (isAtAddress ? PAUSE_MS : MOVE_MS);
    return this.#judgeCandidate(packet, bytes, length, address, port, now, isAuthentic, isTooEarly);
  }

  /**
   * Weighs another source, which becomes the peer's if its packets are consecutive.
   * @param isAuthentic true if SRTP authenticated it
   * @param isTooEarly true if the current source may still continue
   */
  #judgeCandidate(
    packet: RtpPacket,
    bytes: Uint8Array,
    length: number,
    address: string,
    port: number,
    now: number,
    isAuthentic: boolean,
    isTooEarly: boolean,
  ): Verdict {
    if (length > MAX_BYTES) return this.#refuse();
    const candidate = this.#candidate;
    const isAtAddress = this.isAt(address, port);
    const isTrusted = isAtAddress || isAuthentic;
    const isKnownHost = address === this.address || address === this.#negotiated.address;
    const rank = isTrusted ? 2 : isKnownHost ? 1 : 0;
    if (!candidate.follows(packet, address, port, now)) {
      if (candidate.hasPrecedence(packet, address, port, rank, now)) return this.#refuse();
      this.#dropCandidate();
      this.#dropPending();
      candidate.begin(packet, address, port, rank, now);
    }
    const requiredPackets =
      isTrusted || this.ssrc < 0 ? PACKETS_AT_ADDRESS : isKnownHost ? PACKETS_AT_HOST : PACKETS_AT_OTHER_HOST;
    if (candidate.packets < requiredPackets || isTooEarly) {
      if (this.pending.length === (isTrusted ? MAX_PENDING : 1)) {
        this.pending.shift();
        this.pendingLengths.shift();
      }
      this.pending.push(bytes);
      this.pendingLengths.push(length);
      return "pending";
    }
    if (this.ssrc >= 0 && this.#displacedStream.ssrc < 0) {
      this.#displacedStream.ssrc = this.ssrc;
      this.#displacedStream.sequence = this.#sequence;
    }
    if (this.#displacedStream.ssrc >= 0) this.#unconfirmedPackets += candidate.untrustedPackets;
    candidate.clear();
    this.#move(address, port, isAuthentic);
    return this.#startSource(packet, now);
  }

  /** @param isAtAddress true if the packet comes from the current address */
  #continueSource(packet: RtpPacket, now: number, isAtAddress = true): Verdict {
    if (isNext(packet.sequence, this.#sequence)) this.#sequence = packet.sequence;
    this.#lastPacketAt = now;
    if (isAtAddress) this.#lastAtAddress = now;
    if (this.#displacedStream.ssrc >= 0) this.#unconfirmedPackets++;
    this.#dropCandidate();
    return "current";
  }

  #startSource(packet: RtpPacket, now: number): Verdict {
    this.#dropCandidate();
    this.ssrc = packet.ssrc;
    this.#sequence = packet.sequence;
    this.#lastPacketAt = this.#lastAtAddress = now;
    return "new";
  }

  /** Restores the displaced source: the other one was a stranger. */
  #restore(): void {
    this.#injectedPackets += this.#unconfirmedPackets;
    this.#unconfirmedPackets = 0;
    this.#displacedStream.ssrc = -1;
  }

  /** Drops the pending packets. */
  #dropPending(): void {
    this.pending.length = 0;
    this.pendingLengths.length = 0;
  }

  #move(address: string, port: number, isAuthentic: boolean): void {
    this.address = address;
    this.port = port;
    this.#isAuthentic = isAuthentic;
  }

  #isPeer(address: string): boolean {
    return address === this.#negotiated.address || this.#hosts.has(address);
  }

  #isIgnored(address: string): boolean {
    return this.#hosts.otherHosts === "ignored" && !this.#isPeer(address);
  }

  #isPrevious(address: string, port: number, now: number): boolean {
    const previous = this.#previousAddress;
    return this.ssrc < 0 && now < previous.until && port === previous.port && address === previous.address;
  }

  #refuse(): Verdict {
    this.#injectedPackets++;
    return "foreign";
  }

  /** Drops the candidate. */
  #dropCandidate(): void {
    this.#injectedPackets += this.#candidate.untrustedPackets;
    this.#candidate.clear();
  }
}

function isNext(sequence: number, previous: number): boolean {
  const ahead = (sequence - previous) & 0xffff;
  return ahead > 0 && ahead < MAX_AHEAD;
}
