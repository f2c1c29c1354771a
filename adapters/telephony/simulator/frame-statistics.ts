import { FRAME_MS } from "../../../src/audio/playout/media-clock.ts";
import type { MediaStatistics } from "../../../src/ports/telephony.ts";
import { nextJitter, UNMEASURED_STATISTICS } from "../frame-figures.ts";

/**
 * Audio measurements of a simulated call. A packet is an uncompressed frame; none is lost, because no network lies
 * between the two ends. The jitter comes from the clock that drives the frames: a busy process delays them.
 */
export class FrameStatistics {
  #sentFrames = 0;
  #receivedFrames = 0;
  #jitterMs = 0;
  #lastFrameAt: number | undefined;

  /**
   * Records a frame sent to the callee and, if `hasInbound`, one received from the callee.
   * @param now ms of a monotonic clock
   */
  recordFrame(hasInbound: boolean, now: number): void {
    this.#sentFrames++;
    if (hasInbound) this.#receivedFrames++;
    // The first frame, sent on answer, precedes the clock's schedule.
    if (this.#sentFrames === 1) return;
    if (this.#lastFrameAt !== undefined)
      this.#jitterMs = nextJitter(this.#jitterMs, Math.abs(now - this.#lastFrameAt - FRAME_MS));
    this.#lastFrameAt = now;
  }

  /** The statistics so far; null before the first frame. */
  get totals(): MediaStatistics | null {
    if (this.#sentFrames === 0) return null;
    return {
      ...UNMEASURED_STATISTICS,
      codec: "L16",
      packetsSent: this.#sentFrames,
      packetsReceived: this.#receivedFrames,
      packetsLost: 0,
      jitterMs: this.#jitterMs,
      heldMs: 0,
    };
  }
}
