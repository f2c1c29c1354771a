import { AudioUnsupported, type Mp3Stream } from "../../src/ports/audio-decoder.ts";
import { Mp3Decoding } from "./mp3-decoding.ts";
import { Mp3Mix } from "./mp3-mix.ts";

/** Number of broken frames that are tolerated; each second of audio allows one more. */
const MAX_FAULTS = 100;
/** Number of bytes without frames that count as one broken frame. */
const FAULT_BYTES = 4096;
/** Maximum number of bytes without frames between two frames: less than a second of PCM at 8 kHz. */
const MAX_GAP_BYTES = 15_000;

/** Decodes an MP3 as it arrives, on this thread. Leaves out broken frames. */
export async function mp3Stream(): Promise<Mp3Stream> {
  const decoding = await Mp3Decoding.open();
  const mix = new Mp3Mix();
  let countedFaults = 0;
  let faults = 0;
  /** Number of bytes without frames up to the last frame. */
  let ignoredBefore = 0;
  let isClosed = false;
  return {
    push(bytes) {
      if (isClosed) return [];
      // Never waits for further bytes: they may not arrive.
      const chunks = [...mix.push(decoding.push(bytes)), ...mix.flush()];
      const seconds = chunks.reduce((sum, { samples, sampleRate }) => sum + samples.length / sampleRate, 0);
      const { ignoredSum } = decoding.account;
      if (chunks.length > 0) ignoredBefore = ignoredSum;
      else if (ignoredSum - ignoredBefore > MAX_GAP_BYTES)
        throw new AudioUnsupported("the MP3 has ended, and other bytes follow: connect again to send samples");
      const totalFaults = decoding.faults + ignoredSum / FAULT_BYTES;
      faults = Math.max(0, faults + totalFaults - countedFaults - seconds);
      countedFaults = totalFaults;
      if (faults > MAX_FAULTS) throw new AudioUnsupported("too much of the MP3 is broken");
      return chunks;
    },
    finish: () => (isClosed ? [] : [...mix.push(decoding.finish()), ...mix.flush()]),
    get ignored() {
      return decoding.account.total.ignored;
    },
    close() {
      if (!isClosed) decoding.close();
      isClosed = true;
    },
  };
}
