/**
 * Detects speech in one direction of one call. The built-in detector measures energy above the noise; a model such as
 * Silero can replace it. Called on the leg's clock: it does not wait, throw, or keep the array.
 */
export interface VoiceActivityDetector {
  /** Hang-over of the detector: time reported as speech after the last voiced sound, ms. Default: 0. */
  readonly hangOverMs?: number | undefined;
  /** True if the latest samples themselves contained speech, without the hang-over. Default: the result of `push`. */
  readonly isVoiced?: boolean | undefined;
  /** Adds the next samples, about 20 ms; returns true if they contain speech or immediately follow it. */
  push(frame: Int16Array): boolean;
}

/** Creates a detector for audio of a rate, Hz. */
export type VoiceActivity = (sampleRate: number) => VoiceActivityDetector;
