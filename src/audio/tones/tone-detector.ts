import type { ToneBurst } from "../../base/tone-burst.ts";
import { Decimator } from "../samples/decimator.ts";
import { msToSamples } from "../samples/pcm.ts";
import { isQuiet, mayBePair, mayBeTone, SteadyTone } from "./steady-tone.ts";
import { TONE_PAIRS, TonePair } from "./tone-pair.ts";

const FRAME_MS = 20;
/** Approximate working rate, Hz: enough for tones of 2300 Hz. */
const WORKING_RATE = 8_000;
/** Maximum relative difference between the frequencies of neighbouring frames. */
const MAX_DRIFT = 0.025;
/** Minimum number of frames of a tone that is reported. */
const MIN_FRAMES = 3;
/**
 * Minimum share of a tone's received frames that must agree: two tones 25 Hz apart, as in Australian ringing, spoil
 * every other frame.
 */
const MIN_STEADY_SHARE = 0.7;
/** Minimum share of a tone's frames that must have been received. */
const MIN_RECEIVED_SHARE = 0.5;
/** Maximum energy of a silent frame between two tones, as a share of the first tone's energy. */
const SILENT_SHARE = 0.25;
/** Number of frames at the edges of a pause that may still contain a tone. */
const EDGE_FRAMES = 3;
/**
 * Length by which a tone is measured too short, ms: it fills its first and its last frame only in part, so a single
 * tone loses one frame on average, a pair two.
 */
const SINGLE_LOSS_MS = 20;
const PAIR_LOSS_MS = 40;

/**
 * Finds steady tones: one of 390 to 2300 Hz, or a pair that networks play. Feed it from the answer on, because ringing
 * before it sounds similar. Allocates nothing per frame.
 *
 * Fits the strongest tone of each frame to the autocorrelation. Frames that agree make a tone; one frame in between may
 * be missing. A tone starts and ends with received frames; concealed frames in between only sustain it.
 */
export class ToneDetector {
  readonly #decimator: Decimator;
  readonly #factor: number;
  readonly #onBurst: (burst: ToneBurst) => void;
  readonly #tone: SteadyTone;
  readonly #pair: TonePair;
  /** The decimator's history followed by the received frame; and the frame at the working rate. */
  readonly #incomingSamples: Float64Array;
  readonly #frame: Float64Array;
  #filledSamples: number;
  /** Number of received samples of the frame that is being filled. */
  #receivedSamples = 0;
  #frameCount = 0;
  /** The current tone: its first and its last received frame, number of matching frames, mean frequency, and energy. */
  #startFrame = 0;
  #lastFrame = 0;
  #matchingFrames = 0;
  #hz = 0;
  #otherHz = 0;
  #energy = 0;
  #isMissing = false;
  /** Number of frames of the current tone that were filled in: up to its last frame, and since then. */
  #concealedFrames = 0;
  #pendingConcealed = 0;
  /** The latest frame: frequencies of its tones. */
  #frameHz = 0;
  #frameOtherHz = 0;
  /** End of the previous tone in frames, its energy per frame, and the frames since then that were not silent. */
  #endFrame = Number.NEGATIVE_INFINITY;
  #endEnergy = 0;
  #loudFrames = 0;

  /**
   * @param sampleRate samples per second, 8000 or more
   * @param onBurst called within {@link push}
   */
  constructor(sampleRate: number, onBurst: (burst: ToneBurst) => void) {
    const factor = Math.max(1, Math.round(sampleRate / WORKING_RATE));
    const rate = sampleRate / factor;
    this.#factor = factor;
    this.#decimator = new Decimator(factor);
    this.#frame = new Float64Array(msToSamples(FRAME_MS, rate));
    this.#tone = new SteadyTone(rate, this.#frame.length);
    this.#pair = new TonePair(rate, this.#frame.length);
    this.#filledSamples = this.#decimator.history;
    this.#incomingSamples = new Float64Array(this.#filledSamples + this.#frame.length * factor);
    this.#onBurst = onBurst;
  }

  /** Length of the current steady tone up to its last received frame, ms; 0 if there is none. */
  get toneMs(): number {
    return this.#matchingFrames === 0 ? 0 : (this.#lastFrame - this.#startFrame + 1) * FRAME_MS;
  }

  /** Received part of the current tone, ms. */
  get receivedMs(): number {
    return this.toneMs - this.#concealedFrames * FRAME_MS;
  }

  /** Frequency of the current tone, or the lower frequency of a pair, Hz; 0 if there is none. */
  get hz(): number {
    return this.#matchingFrames > 0 ? this.#hz : 0;
  }

  /** The higher frequency of the current pair, Hz; 0 if there is none. */
  get otherHz(): number {
    return this.#matchingFrames > 0 ? this.#otherHz : 0;
  }

  /**
   * Adds the next samples, any number of them.
   * @param received number of them that were received, not filled in
   */
  push(frame: Int16Array, received = frame.length): void {
    const incoming = this.#incomingSamples;
    const { history } = this.#decimator;
    // Most frames are complete and quiet: only the history for the next frame is needed.
    if (this.#filledSamples === history && history + frame.length === incoming.length && isQuiet(frame)) {
      for (let i = 0, from = frame.length - history; i < history; i++) incoming[i] = frame[from + i]!;
      this.#frameHz = this.#frameOtherHz = 0;
      this.#pair.skip();
      this.#receivedSamples = received;
      this.#finishFrame(0);
      return;
    }
    for (let at = 0; at < frame.length; ) {
      const from = this.#filledSamples;
      const copyCount = Math.min(frame.length - at, incoming.length - from);
      for (let i = 0; i < copyCount; i++) incoming[from + i] = frame[at + i]!;
      at += copyCount;
      this.#filledSamples = from + copyCount;
      this.#receivedSamples += (copyCount * received) / frame.length;
      if (this.#filledSamples < incoming.length) return;
      this.#measure();
      this.#finishFrame(this.#frameEnergy());
      this.#filledSamples = history;
      incoming.copyWithin(0, incoming.length - history);
    }
  }

  #finishFrame(energy: number): void {
    this.#decide(energy);
    this.#frameCount++;
    this.#receivedSamples = 0;
  }

  #frameEnergy(): number {
    const incoming = this.#incomingSamples;
    let energy = 0;
    for (let i = this.#decimator.history; i < incoming.length; i++) energy += incoming[i]! * incoming[i]!;
    return energy;
  }

  /** Measures the tones of the last 20 ms. Silence and most speech are ruled out at little cost. */
  #measure(): void {
    const incoming = this.#incomingSamples;
    const { history } = this.#decimator;
    this.#frameHz = this.#frameOtherHz = 0;
    const isSteady = mayBeTone(incoming, history);
    const isLow = mayBePair(incoming, history, this.#factor);
    if (!isLow) this.#pair.skip();
    if (!isSteady && !isLow) return;
    this.#decimator.run(incoming, this.#frame);
    if (isSteady) this.#frameHz = this.#tone.hzOf(this.#frame);
    if (!isLow) return;
    const pair = this.#pair.push(this.#frame);
    if (this.#frameHz > 0 || pair < 0) return;
    this.#frameHz = TONE_PAIRS[pair]![0];
    this.#frameOtherHz = TONE_PAIRS[pair]![1];
  }

  #decide(energy: number): void {
    const hz = this.#frameHz;
    const isReceived = 2 * this.#receivedSamples >= this.#frame.length * this.#factor;
    if (
      hz > 0 &&
      this.#matchingFrames > 0 &&
      this.#frameOtherHz === this.#otherHz &&
      Math.abs(hz - this.#hz) <= MAX_DRIFT * this.#hz
    ) {
      this.#isMissing = false;
      if (!isReceived) {
        this.#pendingConcealed++;
        return;
      }
      this.#matchingFrames++;
      this.#lastFrame = this.#frameCount;
      this.#concealedFrames += this.#pendingConcealed;
      this.#pendingConcealed = 0;
      this.#hz += (hz - this.#hz) / this.#matchingFrames;
      this.#energy += energy;
      return;
    }
    if (this.#matchingFrames > 0 && !this.#isMissing) {
      this.#isMissing = true;
      return;
    }
    if (this.#isTone) this.#report();
    else if (energy > SILENT_SHARE * this.#endEnergy) this.#loudFrames++;
    this.#isMissing = false;
    this.#matchingFrames = hz > 0 && isReceived ? 1 : 0;
    this.#concealedFrames = this.#pendingConcealed = 0;
    this.#hz = hz;
    this.#otherHz = this.#frameOtherHz;
    this.#energy = energy;
    this.#startFrame = this.#lastFrame = this.#frameCount;
  }

  get #isTone(): boolean {
    const { receivedMs, toneMs } = this;
    if (this.#matchingFrames < MIN_FRAMES || receivedMs < MIN_RECEIVED_SHARE * toneMs) return false;
    return this.#matchingFrames * FRAME_MS >= MIN_STEADY_SHARE * receivedMs;
  }

  #report(): void {
    const loss = this.#otherHz > 0 ? PAIR_LOSS_MS : SINGLE_LOSS_MS;
    const pauseMs = Math.max(0, (this.#startFrame - this.#endFrame) * FRAME_MS - loss);
    const burst: ToneBurst = {
      hz: this.#hz,
      otherHz: this.#otherHz,
      atMs: this.#startFrame * FRAME_MS,
      ms: this.toneMs + loss,
      receivedMs: this.receivedMs + loss,
      pauseMs,
      isPauseSilent: this.#loudFrames <= EDGE_FRAMES,
    };
    this.#endFrame = this.#lastFrame + 1;
    this.#endEnergy = this.#energy / this.#matchingFrames;
    this.#loudFrames = 0;
    this.#onBurst(burst);
  }
}
