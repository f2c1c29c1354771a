import type { VoiceActivityDetector } from "../../ports/voice-activity.ts";
import { msToSamples } from "../samples/pcm.ts";

const STEP_MS = 20;
const STEPS_PER_BLOCK = 25;
const BLOCKS = 4;
/** The weight of the past in the smoothed RMS whose minimum is the noise. */
const SMOOTHING = 0.7;
// Compensates for a minimum being below the mean of the noise.
const MINIMUM_BIAS = 1.3;
const MIN_FLOOR_RMS = 30;
const SPEECH_TO_FLOOR_RATIO = 2.2;
const MIN_SPEECH_RMS = 150;
const HANG_OVER_STEPS = 6;

/** Hang-over of {@link Vad}: time reported as speech after the last voiced sound, ms. */
export const VAD_HANG_OVER_MS: number = HANG_OVER_STEPS * STEP_MS;

/**
 * Voice activity detection by energy over a noise floor that follows the minimum of the last two seconds (after R.
 * Martin, Noise Power Spectral Density Estimation Based on Optimal Smoothing and Minimum Statistics, 2001).
 *
 * Designed for barge-in: noise that is steady from the start never counts as speech, and noise that becomes louder
 * counts for two seconds at most. In return, quiet speech in loud noise is missed (one frame in five at 10 dB above the
 * noise). It separates loud from quiet, not speech from music. Allocates nothing.
 */
export class Vad implements VoiceActivityDetector {
  readonly hangOverMs: number = VAD_HANG_OVER_MS;
  isVoiced = false;
  readonly #stepSamples: number;
  readonly #minima: Float64Array = new Float64Array(BLOCKS).fill(Infinity);
  #blockIndex = 0;
  #stepsInBlock = 0;
  #energy = 0;
  #samples = 0;
  #smoothedRms: number | undefined;
  #hangOverSteps = 0;

  /** @param sampleRate samples per second */
  constructor(sampleRate: number) {
    this.#stepSamples = msToSamples(STEP_MS, sampleRate);
  }

  /**
   * Adds the next samples, preferably a multiple of 20 ms, and returns true if there was speech in any 20 ms that they
   * complete; if they complete none, the last decision remains.
   */
  push(frame: Int16Array): boolean {
    const step = this.#stepSamples;
    let isSpeech = false;
    let isVoiced = false;
    let steps = 0;
    for (let at = 0; at < frame.length; ) {
      const end = Math.min(frame.length, at + step - this.#samples);
      this.#samples += end - at;
      let energy = this.#energy;
      for (; at < end; at++) energy += frame[at]! * frame[at]!;
      this.#energy = energy;
      if (this.#samples < step) break;
      if (this.#step(Math.sqrt(energy / step))) isSpeech = true;
      if (this.#hangOverSteps === HANG_OVER_STEPS) isVoiced = true;
      this.#energy = 0;
      this.#samples = 0;
      steps++;
    }
    if (steps === 0) return this.#hangOverSteps > 0;
    this.isVoiced = isVoiced;
    return isSpeech;
  }

  #step(rms: number): boolean {
    this.#smoothedRms = this.#smoothedRms === undefined ? rms : SMOOTHING * this.#smoothedRms + (1 - SMOOTHING) * rms;
    if (this.#stepsInBlock === STEPS_PER_BLOCK) {
      this.#stepsInBlock = 0;
      this.#blockIndex = (this.#blockIndex + 1) % BLOCKS;
      this.#minima[this.#blockIndex] = Infinity;
    }
    this.#stepsInBlock++;
    this.#minima[this.#blockIndex] = Math.min(this.#minima[this.#blockIndex]!, this.#smoothedRms);
    let minimum = Infinity;
    for (let i = 0; i < BLOCKS; i++) minimum = Math.min(minimum, this.#minima[i]!);

    const floor = Math.max(MIN_FLOOR_RMS, MINIMUM_BIAS * minimum);
    if (rms > Math.max(MIN_SPEECH_RMS, SPEECH_TO_FLOOR_RATIO * floor)) {
      this.#hangOverSteps = HANG_OVER_STEPS;
      return true;
    }
    if (this.#hangOverSteps === 0) return false;
    this.#hangOverSteps--;
    return true;
  }
}
