import type { PcmChunk } from "../ports/media.ts";

/** Seconds of audio that one text may become: as long as an uploaded message may be. */
export const LONGEST_AUDIO_S = 600;

/**
 * Counts how long a text speaks. A text of 4096 emoji or percent signs is minutes of audio, so every text is held to the
 * same bound, whichever engine speaks it.
 */
export class SpokenLength {
  #seconds = 0;

  /** Counts one more piece. Throws an Error once they are longer than 10 minutes together. */
  add(piece: PcmChunk): void {
    this.#seconds += piece.samples.length / piece.sampleRate;
    if (this.#seconds > LONGEST_AUDIO_S) {
      throw new Error(`the text speaks for more than ${LONGEST_AUDIO_S / 60} minutes; shorten it`);
    }
  }
}
