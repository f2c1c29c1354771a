import type { StreamEvidence, StreamSettings } from "./engine.ts";

/** Watches over the far side of a call: what has come of it, and whether nothing has for too long. Times are monotonic, ms. */
export class MediaWatch {
  readonly #lossMs: number;
  #direction: StreamSettings["direction"] = "inactive";
  #started = false;
  #heardAt = 0;
  #inbound = false;
  #rtcp = false;
  #expected = false;
  /** Its source has ended by RTCP BYE. */
  #left = false;
  #reported = false;

  constructor(lossMs: number) {
    this.#lossMs = lossMs;
  }

  /** What shows that the far side receives our audio. */
  get evidence(): StreamEvidence {
    return { kind: this.#inbound ? "inbound" : this.#rtcp ? "rtcp" : "none", expected: this.#expected };
  }

  /** Whoever renegotiates is there, and may be moving the call to a phone that still has to begin. */
  negotiated(direction: StreamSettings["direction"], now: number): void {
    this.#direction = direction;
    this.#heardAt = now;
    this.#expect();
  }

  start(now: number): void {
    this.#started = true;
    this.#heardAt = now;
    this.#expect();
  }

  /** A packet of the far side has come by RTP. */
  rtp(now: number): void {
    this.#inbound = true;
    this.#left = false;
    this.#heardAt = now;
  }

  /**
   * A packet of the far side has come by RTCP: somebody who only listens is there.
   * @param goodbye with a BYE, which ends one source, not the call: another phone may go on (RFC 3550 section 6.6)
   */
  rtcp(goodbye: boolean, now: number): void {
    this.#rtcp = true;
    this.#heardAt = now;
    if (goodbye) this.#left = true;
  }

  /** Why the far side is lost; undefined as long as it is not, and once that was reported. On hold nothing has to come. */
  overdue(now: number): string | undefined {
    if (!this.#started || this.#reported || this.#direction !== "sendrecv") return undefined;
    if (now - this.#heardAt < this.#lossMs) return undefined;
    this.#reported = true;
    const since = `for ${Math.round(this.#lossMs / 1000)} s${this.#left ? ", since it ended its stream (RTCP BYE)" : ""}`;
    return this.#inbound
      ? `No audio has come from the far side ${since}.`
      : `No audio at all has come from the far side ${since}: a firewall, a NAT, or a wrong public address may be in the way.`;
  }

  #expect(): void {
    if (this.#started && (this.#direction === "sendrecv" || this.#direction === "recvonly")) this.#expected = true;
  }
}
