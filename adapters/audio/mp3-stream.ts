import { pcmFromFloat } from "../../src/audio/pcm.ts";
import { AudioUnsupported, type Mp3Stream } from "../../src/ports/audio-decoder.ts";
import type { PcmChunk } from "../../src/ports/media.ts";
import { Mp3Decoding } from "./mp3-decoding.ts";

/** Number of broken frames that are tolerated; each second of audio allows one more. */
const FORGIVEN_FAULTS = 100;
/** Bytes without frames that count as a broken one. */
const FAULT_BYTES = 4096;

/** Decodes an MP3 as it arrives, on this thread. Leaves out broken frames. */
export async function mp3Stream(): Promise<Mp3Stream> {
  const decoding = await Mp3Decoding.open();
  let counted = 0;
  let faults = 0;
  let closed = false;
  return {
    push(bytes) {
      if (closed) return [];
      const chunks: PcmChunk[] = [];
      let seconds = 0;
      for (const { channels, sampleRate } of decoding.push(bytes)) {
        const samples = pcmFromFloat(channels);
        seconds += samples.length / sampleRate;
        chunks.push({ samples, sampleRate });
      }
      const total = decoding.faults + decoding.account.ignoredSum / FAULT_BYTES;
      faults = Math.max(0, faults + total - counted - seconds);
      counted = total;
      if (faults > FORGIVEN_FAULTS) throw new AudioUnsupported("too much of the MP3 is broken");
      return chunks;
    },
    close() {
      if (!closed) decoding.close();
      closed = true;
    },
  };
}
