import { AudioUnsupported, type Mp3Stream } from "../../src/ports/audio-decoder.ts";
import type { PcmChunk } from "../../src/ports/media.ts";
import { Mpg123 } from "./mpg123.ts";

/** Number of broken frames that are tolerated; each second of audio allows one more. */
const FORGIVEN_FAULTS = 100;
/** mpg123 reports one rate for each piece: small pieces limit the audio with a wrong rate when it changes, bytes. */
const PIECE_BYTES = 512;

/** Decodes an MP3 as it arrives, on this thread. Leaves out broken frames. */
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
