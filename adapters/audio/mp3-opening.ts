import { firstFrame, skipId3 } from "../../src/audio/mp3-frames.ts";
import { mpegHeader } from "../../src/audio/mpeg-header.ts";

/** Properties of an MP3 file that its first frame states. */
export interface Mp3Opening {
  /** Offset of the first frame, after ID3v2 tags and other bytes. */
  readonly start: number;
  /** Hz. */
  readonly sampleRate: number;
  readonly channels: 1 | 2;
  /** How many samples of each channel the file claims; undefined if it does not state that. */
  readonly claimedSamples: number | undefined;
}

/** ISO/IEC 11172-3: the mode bits of one channel. */
const MONO = 3;

/**
 * Reads the opening of an MP3 file that `sniff` has recognised: its first frame and, if it is there, the Xing or Info
 * tag inside with the count of frames and LAME's count of padding. Undefined if no three frames follow each other
 * within 4 KB after the ID3v2 tags.
 */
export function mp3Opening(bytes: Uint8Array): Mp3Opening | undefined {
  const start = firstFrame(bytes, skipId3(bytes));
  const header = start === undefined ? undefined : mpegHeader(bytes, start);
  if (start === undefined || header === undefined) return undefined;
  const channels = (bytes[start + 3] ?? 0) >> 6 === MONO ? 1 : 2;
  const claimedSamples = claimed(bytes.subarray(start, start + header.frameBytes), channels);
  return { start, sampleRate: header.sampleRate, channels, claimedSamples };
}

/**
 * Samples that a Xing or Info tag claims (the tag follows the side information; LAME's extension, 21 bytes into
 * its part, packs delay and padding into three bytes).
 */
function claimed(frame: Uint8Array, channels: 1 | 2): number | undefined {
  const mpeg1 = ((frame[1] ?? 0) >> 3) % 4 === 3;
  const tag = 4 + (mpeg1 ? (channels === 1 ? 17 : 32) : channels === 1 ? 9 : 17);
  const name = String.fromCharCode(...frame.subarray(tag, tag + 4));
  if ((name !== "Xing" && name !== "Info") || frame.length < tag + 12) return undefined;
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const flags = view.getUint32(tag + 4);
  if ((flags & 1) === 0) return undefined;
  const samples = view.getUint32(tag + 8) * (mpeg1 ? 1152 : 576);

  const lame = tag + 8 + (flags & 1 ? 4 : 0) + (flags & 2 ? 4 : 0) + (flags & 4 ? 100 : 0) + (flags & 8 ? 4 : 0);
  if (frame.length < lame + 24 || frame[lame] === 0) return samples;
  const [first = 0, middle = 0, last = 0] = frame.subarray(lame + 21, lame + 24);
  return Math.max(0, samples - ((first << 4) | (middle >> 4)) - (((middle & 15) << 8) | last));
}
