import { AudioUnsupported, type Mp3Stream } from "../../src/ports/audio-decoder.ts";
import type { PcmChunk } from "../../src/ports/media.ts";
import { Mpg123 } from "./mpg123.ts";

/** Broken frames that are forgiven at once; each second of audio makes good for one more. */
const FORGIVEN_FAULTS = 100;
/** mpg123 names one rate for all that it decodes at once: small pieces keep the two sides of a change apart, bytes. */
const PIECE_BYTES = 512;

/** Decodes an MP3 that is still being sent, on this thread. Broken frames are left out. */
export async function mp3Stream(): Promise<Mp3Stream> {
  const decoder = await Mpg123.open();
  let faults = 0;
  let closed = false;
  return {
    push(bytes) {
      const chunks: PcmChunk[] = [];
      for (let at = 0; at < bytes.length && !closed; at += PIECE_BYTES) {
        const { samples, sampleRate, faults: more } = decoder.decode(bytes.subarray(at, at + PIECE_BYTES));
        if (samples.length > 0) chunks.push({ samples, sampleRate });
        faults = Math.max(0, faults + more - samples.length / (sampleRate || 1));
        if (faults > FORGIVEN_FAULTS) throw new AudioUnsupported("too much of the MP3 is broken");
      }
      return chunks;
    },
    close() {
      if (!closed) decoder.close();
      closed = true;
    },
  };
}
