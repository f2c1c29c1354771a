import type { StreamEvidence, StreamSettings } from "./engine.ts";

/** Early media may still arrive after the answer: time after which an earlier source counts as new, ms. */
const EARLY_TAIL_MS = 200;

/**
 * Sender of an accepted packet: the `peer`, by its host or its keys; the source that our audio follows (`followed`), a
 * sign of life but not evidence; or an `other` source, which is neither.
 */
export type PacketSender = "peer" | "followed" | "other";

/** Watches the peer of a call: the packets received from it, and silence that lasts too long. Times are monotonic, ms. */
export class MediaWatch {
  readonly #lossMs: number;
  #direction: StreamSettings["direction"] = "inactive";
  #started = false;
  #heardAt = 0;
  /** True if early media arrived, which is not evidence after the answer. */
  #early = false;
  #freshFrom = 0;
  /** True if RTP arrived, before or after the answer. */
  #spoke = false;
  #inbound = false;
  #rtcp = false;
  #elsewhere = false;
  #evident = false;
  #expected = false;
  /** True if its source has ended with an RTCP BYE. */
  #left = false;
  /** Time of the latest report of silence. */
  #reportedAt = 0;

  constructor(lossMs: number) {
    this.#lossMs = lossMs;
  }

  /** Evidence that the peer receives our audio. */
  get evidence(): StreamEvidence {
    const kind = this.#inbound ? "inbound" : this.#rtcp ? "rtcp" : "none";
    return { kind, elsewhere: this.#elsewhere, expected: this.#expected };
  }

  /** True if there is evidence for the first time since the answer. */
  takeEvidence(): boolean {
    if (this.#evident || !this.#started || !(this.#inbound || this.#rtcp)) return false;
    this.#evident = true;
    return true;
  }

  /** Records a renegotiation, which is a sign of life, and may move the call to a phone that has not begun to send. */
  negotiated(direction: StreamSettings["direction"], now: number): void {
    this.#direction = direction;
    this.#heardAt = now;
    this.#expect();
  }

  /**
   * Handles the answer: earlier packets do not prove that the peer receives our audio now. @returns time at which early
   * media has ended, ms
   */
  start(now: number): number {
    this.#started = true;
    this.#heardAt = now;
    this.#early = this.#inbound || this.#rtcp;
    this.#freshFrom = this.#early ? now + EARLY_TAIL_MS : now;
    this.#inbound = this.#rtcp = this.#elsewhere = false;
    this.#expect();
    return this.#freshFrom;
  }

  /**
   * Records an accepted RTP packet. @param timely true if it arrived just now; otherwise it may have waited in the
   * socket since before the answer
   * @param sender its sender
   */
  rtp(now: number, timely: boolean, sender: PacketSender): void {
    const isFresh = now >= this.#freshFrom && (timely || !this.#early);
    if (sender !== "peer") this.#elsewhere ||= isFresh;
    else this.#inbound ||= isFresh;
    if (sender === "other") return;
    this.#spoke = true;
    this.#left = false;
    this.#heardAt = now;
  }

  /**
   * Records an accepted RTCP packet: a sign of life even if the peer only listens. @param isDeaf true if it reports that
   * none of our packets arrive @param goodbye true if it has a BYE, which ends one source, not the call: another phone
   * may continue (RFC 3550 section 6.6)
   * @param sender its sender
   */
  rtcp(isDeaf: boolean, goodbye: boolean, now: number, sender: PacketSender): void {
    if (sender === "other") return;
    if (sender === "peer" && !isDeaf && now >= this.#freshFrom) this.#rtcp = true;
    this.#heardAt = now;
    if (goodbye) this.#left = true;
  }

  /**
   * Describes the silence of the peer when it has lasted for another `lossMs`; otherwise undefined. No audio is
   * expected on hold.
   */
  overdue(now: number): string | undefined {
    if (!this.#started || this.#direction !== "sendrecv") return undefined;
    if (now - Math.max(this.#heardAt, this.#reportedAt) < this.#lossMs) return undefined;
    this.#reportedAt = now;
    const seconds = Math.round((now - this.#heardAt) / 1000);
    const since = `for ${seconds} s (mediaLossMs)${this.#left ? ", since it ended its stream (RTCP BYE)" : ""}`;
    if (this.#elsewhere && !this.#spoke) return `audio came only from other hosts than the peer's ${since}`;
    return this.#spoke
      ? `no audio came from the peer ${since}`
      : `no audio at all came from the peer ${since}: a firewall, a NAT, or a wrong public address may be in the way`;
  }

  #expect(): void {
    if (this.#started && (this.#direction === "sendrecv" || this.#direction === "recvonly")) this.#expected = true;
  }
}
