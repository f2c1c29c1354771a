import type { PcmChunk } from "../../ports/media.ts";

/** Maximum length of a spoken text, s, as for an uploaded message. */
export const MAX_AUDIO_S = 600;

/**
 * Limits the spoken length of a text for every engine: a text of 4096 emoji or percent signs can be minutes of audio.
 */
export class SpokenLength {
  #seconds = 0;

  /** Adds a piece. Throws an Error if all pieces together are longer than 10 minutes. */
  add(piece: PcmChunk): void {
    this.#seconds += piece.samples.length / piece.sampleRate;
    if (this.#seconds > MAX_AUDIO_S) {
      throw new Error(`the text takes more than ${MAX_AUDIO_S / 60} minutes to speak; shorten it`);
    }
  }
}
