import type { PcmChunk } from "../../src/ports/media.ts";
import { LONGEST_AUDIO_S } from "./speech-limits.ts";

/**
 * Counts how long a text speaks. A text of 4096 emoji or percent signs is minutes of audio, so the engines and the
 * stream of a speech server are all held to the same bound.
 */
export class SpokenLength {
  #seconds = 0;

  /** Counts one more piece. Throws an Error once they are longer than 10 minutes together. */
  add(piece: PcmChunk): void {
    this.#seconds += piece.samples.length / piece.sampleRate;
    if (this.#seconds > LONGEST_AUDIO_S) {
      throw new Error(`The text speaks for more than ${LONGEST_AUDIO_S / 60} minutes; shorten it.`);
    }
  }
}
