import { FRAME_MS } from "../../../src/audio/playout/media-clock.ts";
import type { MediaStatistics } from "../../../src/ports/telephony.ts";
import { nextJitter, UNMEASURED_STATISTICS } from "../frame-figures.ts";

/**
 * Audio measurements of a simulated call. A packet is an uncompressed frame; none is lost, because no network lies
 * between the two ends. The jitter comes from the clock that drives the frames: a busy process delays them.
 */
export class FrameStatistics {
  #sent = 0;
  #received = 0;
  #jitterMs = 0;
  #lastFrameAt: number | undefined;

  /**
   * Records a frame sent to the callee and, if `hasInbound`, one received from the callee.
   * @param now ms of a monotonic clock
   */
  recordFrame(hasInbound: boolean, now: number): void {
    this.#sent++;
    if (hasInbound) this.#received++;
    // The first frame, sent on answer, precedes the clock's schedule.
    if (this.#sent === 1) return;
    if (this.#lastFrameAt !== undefined)
      this.#jitterMs = nextJitter(this.#jitterMs, Math.abs(now - this.#lastFrameAt - FRAME_MS));
    this.#lastFrameAt = now;
  }

  /** The statistics so far; null before the first frame. */
  get totals(): MediaStatistics | null {
    if (this.#sent === 0) return null;
    return {
      ...UNMEASURED_STATISTICS,
      codec: "L16",
      packetsSent: this.#sent,
      packetsReceived: this.#received,
      packetsLost: 0,
      jitterMs: this.#jitterMs,
      heldMs: 0,
    };
  }
}
