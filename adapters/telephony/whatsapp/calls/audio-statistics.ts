import type { MediaStatistics } from "../../../../src/ports/telephony.ts";
import { nextJitter, UNMEASURED_STATISTICS } from "../../frame-figures.ts";
import { SAMPLE_RATE, WHATSAPP_FRAME_MS } from "./whatsapp-frame.ts";

/** Maximum number of missing frames in a gap; with more, the callee is not sending. */
const MAX_GAP = 16;

/**
 * Audio measurements of a call over a linked device. The client has the packets, so a packet is a frame here: sent when
 * it has left the client's buffer, received when the client has decoded it, lost when silence was played in its place.
 */
export class AudioStatistics {
  /** Number of frames that the client has sent, silence included. */
  sentFrames = 0;
  #receivedFrames = 0;
  #lostFrames = 0;
  /** Number of frames of silence since the last audio. */
  #missingFrames = 0;
  #jitterMs = 0;
  #heldMs = 0;
  #heldAt: number | undefined;
  #arrivedAt: number | undefined;
  /** Length of the latest piece, ms. */
  #pieceMs = WHATSAPP_FRAME_MS;

  /** Records audio that has arrived. @param now ms of a monotonic clock */
  recordArrival(samples: number, now: number): void {
    this.#receivedFrames++;
    const deviationMs = this.#arrivedAt === undefined ? 0 : Math.abs(now - this.#arrivedAt - this.#pieceMs);
    // A pause by the callee is not jitter.
    if (deviationMs < MAX_GAP * WHATSAPP_FRAME_MS) this.#jitterMs = nextJitter(this.#jitterMs, deviationMs);
    this.#arrivedAt = now;
    this.#pieceMs = (samples * 1_000) / SAMPLE_RATE;
  }

  /** Records a frame that has been passed on: audio, or silence in place of a missing frame. */
  recordFrame(isAudio: boolean): void {
    if (!isAudio) this.#missingFrames++;
    else {
      if (this.#missingFrames <= MAX_GAP) this.#lostFrames += this.#missingFrames;
      this.#missingFrames = 0;
    }
  }

  setHeld(isHeld: boolean, now: number): void {
    if (isHeld) this.#heldAt ??= now;
    else if (this.#heldAt !== undefined) {
      this.#heldMs += now - this.#heldAt;
      this.#heldAt = undefined;
    }
  }

  totals(now: number): MediaStatistics {
    return {
      ...UNMEASURED_STATISTICS,
      codec: "MLow",
      packetsSent: this.sentFrames,
      packetsReceived: this.#receivedFrames,
      packetsLost: this.#lostFrames,
      jitterMs: this.#jitterMs,
      heldMs: Math.round(this.#heldMs + (this.#heldAt === undefined ? 0 : now - this.#heldAt)),
    };
  }
}
