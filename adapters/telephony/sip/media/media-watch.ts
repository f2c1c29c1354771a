import type { StreamEvidence, StreamSettings } from "./engine.ts";

/** Early media may still be on its way when the answer comes: a source that spoke before it counts anew after this, ms. */
const EARLY_TAIL_MS = 200;

/** Watches over the peer of a call: what has come of it, and whether nothing has for too long. Times are monotonic, ms. */
export class MediaWatch {
  readonly #lossMs: number;
  #direction: StreamSettings["direction"] = "inactive";
  #started = false;
  #heardAt = 0;
  /** Something came before the answer, and counts no more. */
  #early = false;
  #freshFrom = 0;
  /** RTP has come, before the answer or after it. */
  #spoke = false;
  #inbound = false;
  #rtcp = false;
  #evident = false;
  #expected = false;
  /** Its source has ended by RTCP BYE. */
  #left = false;
  #reported = false;

  constructor(lossMs: number) {
    this.#lossMs = lossMs;
  }

  /** What shows that the peer receives our audio. */
  get evidence(): StreamEvidence {
    return { kind: this.#inbound ? "inbound" : this.#rtcp ? "rtcp" : "none", expected: this.#expected };
  }

  /** Whether there is evidence for the first time since the answer. */
  takeEvidence(): boolean {
    if (this.#evident || !this.#started || !(this.#inbound || this.#rtcp)) return false;
    this.#evident = true;
    return true;
  }

  /** Whoever renegotiates is there, and may be moving the call to a phone that still has to begin. */
  negotiated(direction: StreamSettings["direction"], now: number): void {
    this.#direction = direction;
    this.#heardAt = now;
    this.#expect();
  }

  /**
   * The call is answered: what came before shows nothing of what the peer receives from now on.
   * @returns from when on what comes is no more early media, ms
   */
  start(now: number): number {
    this.#started = true;
    this.#heardAt = now;
    this.#early = this.#inbound || this.#rtcp;
    this.#freshFrom = this.#early ? now + EARLY_TAIL_MS : now;
    this.#inbound = this.#rtcp = false;
    this.#expect();
    return this.#freshFrom;
  }

  /**
   * A packet of the peer has come by RTP.
   * @param timely it has come now; else it may have lain in the socket since before the answer
   */
  rtp(now: number, timely: boolean): void {
    if (now >= this.#freshFrom && (timely || !this.#early)) this.#inbound = true;
    this.#spoke = true;
    this.#left = false;
    this.#heardAt = now;
  }

  /**
   * A packet of the peer has come by RTCP: somebody who only listens is there.
   * @param deaf it reports that nothing of ours arrives
   * @param goodbye with a BYE, which ends one source, not the call: another phone may go on (RFC 3550 section 6.6)
   */
  rtcp(deaf: boolean, goodbye: boolean, now: number): void {
    if (!deaf && now >= this.#freshFrom) this.#rtcp = true;
    this.#heardAt = now;
    if (goodbye) this.#left = true;
  }

  /** Why the peer is lost; undefined as long as it is not, and once that was reported. On hold nothing has to come. */
  overdue(now: number): string | undefined {
    if (!this.#started || this.#reported || this.#direction !== "sendrecv") return undefined;
    if (now - this.#heardAt < this.#lossMs) return undefined;
    this.#reported = true;
    const since = `for ${Math.round(this.#lossMs / 1000)} s${this.#left ? ", since it ended its stream (RTCP BYE)" : ""}`;
    return this.#spoke
      ? `no audio came from the peer ${since}`
      : `no audio at all came from the peer ${since}: a firewall, a NAT, or a wrong public address may be in the way`;
  }

  #expect(): void {
    if (this.#started && (this.#direction === "sendrecv" || this.#direction === "recvonly")) this.#expected = true;
  }
}
