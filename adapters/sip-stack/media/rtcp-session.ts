import { type System, toHex } from "../ports.ts";
import type { Inbound } from "./inbound.ts";
import type { Outbound } from "./outbound.ts";
import { ntpMiddle, RTCP_BYTES, RtcpPacket, writeRtcp } from "./rtcp.ts";
import { PROTECTION_BYTES } from "./rtp-packet.ts";

/** Interval between reports, ms: the minimum in RFC 3550 section 6.2, which suits a call with two members. */
const INTERVAL_MS = 5_000;
/** The largest fraction in eight bits (RFC 3550 section 6.4.1). */
const MAX_FRACTION_LOST = 255 / 256;

/** A call's RTCP reports: sends one about every 5 s, and reads the peer's. */
export class RtcpSession {
  /** Round-trip time, ms; null until a report allows measuring it. */
  roundTripMs: number | null = null;
  /** Share of our packets that the peer reports as lost, 0 to 1; null until the first report. */
  remoteLoss: number | null = null;
  /** True if the peer's last report shows that all packets sent since the answer were lost. */
  isDeaf = false;
  readonly #system: System;
  readonly #inbound: Inbound;
  readonly #outbound: Outbound;
  readonly #packet = new RtcpPacket();
  readonly #bytes = new Uint8Array(RTCP_BYTES + PROTECTION_BYTES);
  readonly #randomByte = new Uint8Array(1);
  readonly #cname: string;
  /** Wall clock minus steady clock at the start: later jumps of the wall clock do not matter. */
  readonly #epoch: number;
  #dueAt: number;
  #packetsAtLastReport = 0;
  #lastReport = 0;
  #lastReportAt = 0;

  constructor(system: System, inbound: Inbound, outbound: Outbound) {
    this.#system = system;
    this.#inbound = inbound;
    this.#outbound = outbound;
    const name = new Uint8Array(9);
    system.random(name);
    this.#cname = toHex(name);
    this.#epoch = system.now() - system.monotonic();
    this.#dueAt = system.monotonic() + this.#interval() / 2;
  }

  /** True if a report is due; marks it as sent. */
  isDue(now: number): boolean {
    if (now < this.#dueAt) return false;
    this.#dueAt = now + this.#interval();
    return true;
  }

  /** Writes our report, or BYE; returns its length. The bytes stay in `bytes` until the next write. */
  write(goodbye: boolean): number {
    const { ssrc, packets, octets, timestamp } = this.#outbound;
    const { reception, source } = this.#inbound;
    const now = this.#system.monotonic();
    const hasSent = packets !== this.#packetsAtLastReport;
    this.#packetsAtLastReport = packets;
    return writeRtcp(this.#bytes, {
      ssrc,
      cname: this.#cname,
      sender: hasSent ? { now: this.#epoch + now, timestamp, packets, octets } : undefined,
      block:
        source.ssrc < 0 || reception.highestSequence < 0
          ? undefined
          : {
              ssrc: source.ssrc,
              fractionLost: reception.fractionLost(),
              lost: reception.lost,
              highest: reception.highestSequence,
              jitter: reception.jitter,
              lastReport: this.#lastReport,
              sinceLastReport: this.#lastReport === 0 ? 0 : Math.round((now - this.#lastReportAt) * 65.536),
            },
      goodbye,
    });
  }

  /** Bytes written by `write`. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /**
   * Reads the peer's report; returns undefined if it is not a report. `goodbye`: the peer's current source has ended.
   */
  take(bytes: Uint8Array, length: number): "report" | "goodbye" | undefined {
    const packet = this.#packet;
    if (!packet.parse(bytes, length, this.#outbound.ssrc)) return undefined;
    const now = this.#system.monotonic();
    if (packet.senderTime >= 0) {
      this.#lastReport = packet.senderTime;
      this.#lastReportAt = now;
    }
    this.isDeaf =
      packet.hasReport && packet.fractionLost >= MAX_FRACTION_LOST && !this.#outbound.hasSent(packet.highest);
    if (packet.hasReport) {
      const { packets } = this.#outbound;
      if (packets > 0) this.remoteLoss = Math.min(1, Math.max(0, packet.lost) / packets);
      if (packet.lastReport !== 0) {
        const roundTrip = (ntpMiddle(this.#epoch + now) - packet.lastReport - packet.sinceLastReport) | 0;
        if (roundTrip >= 0) this.roundTripMs = roundTrip / 65.536;
      }
    }
    const { ssrc } = this.#inbound.source;
    return packet.goodbye >= 0 && (packet.goodbye === ssrc || ssrc < 0) ? "goodbye" : "report";
  }

  #interval(): number {
    this.#system.random(this.#randomByte);
    return INTERVAL_MS * (0.5 + this.#randomByte[0]! / 255);
  }
}
