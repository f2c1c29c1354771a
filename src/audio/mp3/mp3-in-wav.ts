import { lettersAt } from "../sniffing/file-tags.ts";
import { CHUNK_HEAD_BYTES, isChunkIdAt, RIFF_BYTES, waveIn } from "../wav/wav-chunks.ts";
import { framesAt, id3Bytes } from "./mp3-frames.ts";
import { mp3Info } from "./mp3-info.ts";
import { mpegHeader } from "./mpeg-header.ts";

/** The format tag of MP3 in a WAV file (RFC 2361). */
const MP3_TAG = 0x55;
/** Number of consecutive frames that prove an MP3 among samples if no tag does. */
const MIN_FRAMES = 8;
/** Number of bytes of a frame that are compared with the next frame, because periodic samples repeat. */
const COMPARED_BYTES = 48;

/** Position of the MP3 in a WAV file that contains an MP3 instead of samples; undefined for other files. */
export function mp3InWav(file: Uint8Array): { readonly from: number; readonly to: number } | undefined {
  const start = waveIn(file);
  if (start === undefined) return undefined;
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  let isMp3 = false;
  for (let at = start + RIFF_BYTES; at + CHUNK_HEAD_BYTES < file.length && isChunkIdAt(file, at); ) {
    const size = view.getUint32(at + 4, true);
    const from = at + CHUNK_HEAD_BYTES;
    if (lettersAt(file, at, "fmt ") && from + 2 <= file.length) isMp3 = view.getUint16(from, true) === MP3_TAG;
    if (lettersAt(file, at, "data")) {
      // A length of zero or beyond the file is a placeholder.
      const end = size === 0 ? file.length : from + size;
      return isMp3 || beginsMp3(file, from) ? { from, to: Math.min(file.length, end) } : undefined;
    }
    at = from + size + (size % 2);
  }
  return undefined;
}

/** Position of the first certain MP3 among the following samples; Infinity if there is none. */
export function mp3AmongSamples(file: Uint8Array, from: number): number {
  for (let at = from; at < file.length; at++) if (beginsMp3(file, at)) return at;
  return Infinity;
}

/** True if an MP3 starts here: an ID3 tag followed by frames, or frames that cannot be samples. */
function beginsMp3(bytes: Uint8Array, at: number): boolean {
  if (bytes[at] === 0x49) {
    const tag = id3Bytes(bytes, at);
    return tag > 0 && framesAt(bytes, at + tag) === "yes";
  }
  if (bytes[at] !== 0xff || framesAt(bytes, at) !== "yes") return false;
  const header = mpegHeader(bytes, at)!;
  return mp3Info(bytes.subarray(at, at + header.frameBytes), header) !== undefined || isFrameChain(bytes, at);
}

function isFrameChain(bytes: Uint8Array, from: number): boolean {
  let at = from;
  for (let frames = 0; frames < MIN_FRAMES; frames++) {
    const header = mpegHeader(bytes, at);
    if (header === undefined) return false;
    const next = at + header.frameBytes;
    if (frames === 0 && bytes.subarray(at, at + COMPARED_BYTES).every((byte, i) => byte === bytes[next + i]))
      return false;
    at = next;
  }
  return true;
}
