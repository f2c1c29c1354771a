/**
 * Tells speech from what is not, in one direction of one call. The built-in one measures energy over the noise; a model
 * such as Silero can be brought instead. Called within the leg's clock: it does not wait, throw, or keep the array.
 */
export interface VoiceActivityDetector {
  /** How long it goes on saying speech after the last voice, ms. Default: 0. */
  readonly hangOverMs?: number | undefined;
  /** Takes the next samples, 20 ms or so, and says whether there is speech in them, or was just now. */
  push(frame: Int16Array): boolean;
}

/** Makes a detector for audio of a rate, Hz. */
export type VoiceActivity = (sampleRate: number) => VoiceActivityDetector;
