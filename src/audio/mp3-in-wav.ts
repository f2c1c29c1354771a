import { lettersAt } from "./file-tags.ts";
import { CHUNK_HEAD_BYTES, isChunkIdAt, RIFF_BYTES, waveIn } from "./wav-chunks.ts";

/** The format tag of MP3 in a WAV file (RFC 2361). */
const MP3_TAG = 0x55;

/** Position of the MP3 in a WAV file that holds one instead of samples; undefined in others. */
export function mp3InWav(file: Uint8Array): { readonly from: number; readonly to: number } | undefined {
  const start = waveIn(file);
  if (start === undefined) return undefined;
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  let isMp3 = false;
  for (let at = start + RIFF_BYTES; at + CHUNK_HEAD_BYTES < file.length && isChunkIdAt(file, at); ) {
    const size = view.getUint32(at + 4, true);
    const from = at + CHUNK_HEAD_BYTES;
    if (lettersAt(file, at, "fmt ")) isMp3 = view.getUint16(from, true) === MP3_TAG;
    if (lettersAt(file, at, "data")) {
      // A length of zero or beyond the file is a placeholder.
      const end = size === 0 ? file.length : from + size;
      return isMp3 ? { from, to: Math.min(file.length, end) } : undefined;
    }
    at = from + size + (size % 2);
  }
  return undefined;
}
