import type { StreamEvidence, StreamSettings } from "./engine.ts";

/** Time after the answer from which an earlier source counts as new, ms: until then, early media may still arrive. */
const EARLY_TAIL_MS = 200;

/**
 * Sender of an accepted packet: the `peer`, by its host or its keys; the source that our audio follows (`followed`), a
 * sign of life but not evidence; or an `other` source, which is neither.
 */
export type PacketSender = "peer" | "followed" | "other";

/** Watches a call's peer: the packets received from it, and silence that lasts too long. Times are monotonic, ms. */
export class MediaWatch {
  readonly #lossMs: number;
  #direction: StreamSettings["direction"] = "inactive";
  #isStarted = false;
  #lastSignAt = 0;
  /** True if early media has arrived, which is not evidence after the answer. */
  #hadEarlyMedia = false;
  #earlyUntil = 0;
  /** True if RTP has arrived, before or after the answer. */
  #hasSpoken = false;
  #hasInbound = false;
  #hasRtcp = false;
  #fromOtherHost = false;
  #hasReported = false;
  #isExpected = false;
  /** True if its source has ended with an RTCP BYE. */
  #hasReceivedBye = false;
  /** Time of the latest report of silence. */
  #reportedAt = 0;

  constructor(lossMs: number) {
    this.#lossMs = lossMs;
  }

  /** Evidence that the peer receives our audio. */
  get evidence(): StreamEvidence {
    const kind = this.#hasInbound ? "inbound" : this.#hasRtcp ? "rtcp" : "none";
    return { kind, fromOtherHost: this.#fromOtherHost, expected: this.#isExpected };
  }

  /** True if there is evidence for the first time since the answer. */
  takeEvidence(): boolean {
    if (this.#hasReported || !this.#isStarted || !(this.#hasInbound || this.#hasRtcp)) return false;
    this.#hasReported = true;
    return true;
  }

  /** Records a renegotiation, which is a sign of life, and may move the call to a phone that has not begun to send. */
  recordRenegotiation(direction: StreamSettings["direction"], now: number): void {
    this.#direction = direction;
    this.#lastSignAt = now;
    this.#updateExpected();
  }

  /**
   * Handles the answer: earlier packets do not prove that the peer receives our audio now. @returns time at which early
   * media has ended, ms
   */
  start(now: number): number {
    this.#isStarted = true;
    this.#lastSignAt = now;
    this.#hadEarlyMedia = this.#hasInbound || this.#hasRtcp;
    this.#earlyUntil = this.#hadEarlyMedia ? now + EARLY_TAIL_MS : now;
    this.#hasInbound = this.#hasRtcp = this.#fromOtherHost = false;
    this.#updateExpected();
    return this.#earlyUntil;
  }

  /**
   * Records an accepted RTP packet. @param isTimely true if it arrived just now; otherwise it may have waited in the
   * socket since before the answer
   * @param sender its sender
   */
  recordRtp(now: number, isTimely: boolean, sender: PacketSender): void {
    const isFresh = now >= this.#earlyUntil && (isTimely || !this.#hadEarlyMedia);
    if (sender !== "peer") this.#fromOtherHost ||= isFresh;
    else this.#hasInbound ||= isFresh;
    if (sender === "other") return;
    this.#hasSpoken = true;
    this.#hasReceivedBye = false;
    this.#lastSignAt = now;
  }

  /**
   * Records an accepted RTCP packet: a sign of life even if the peer sends no audio.
   *
   * @param isDeaf true if it reports that none of our packets arrive
   * @param goodbye true if it contains a BYE, which ends one source, not the call: another phone may continue (RFC 3550
   * section 6.6)
   * @param sender its sender
   */
  recordRtcp(isDeaf: boolean, goodbye: boolean, now: number, sender: PacketSender): void {
    if (sender === "other") return;
    if (sender === "peer" && !isDeaf && now >= this.#earlyUntil) this.#hasRtcp = true;
    this.#lastSignAt = now;
    if (goodbye) this.#hasReceivedBye = true;
  }

  /**
   * Describes the peer's silence when it has lasted for another `lossMs`; otherwise undefined. No audio is expected on
   * hold.
   */
  silenceReport(now: number): string | undefined {
    if (!this.#isStarted || this.#direction !== "sendrecv") return undefined;
    if (now - Math.max(this.#lastSignAt, this.#reportedAt) < this.#lossMs) return undefined;
    this.#reportedAt = now;
    const seconds = Math.round((now - this.#lastSignAt) / 1000);
    const since = `for ${seconds} s (mediaLossMs)${this.#hasReceivedBye ? ", since it ended its stream (RTCP BYE)" : ""}`;
    if (this.#fromOtherHost && !this.#hasSpoken) return `audio came only from hosts other than the peer's ${since}`;
    return this.#hasSpoken
      ? `no audio came from the peer ${since}`
      : `no audio at all came from the peer ${since}: a firewall, a NAT, or a wrong public address may be in the way`;
  }

  #updateExpected(): void {
    if (this.#isStarted && (this.#direction === "sendrecv" || this.#direction === "recvonly")) this.#isExpected = true;
  }
}
