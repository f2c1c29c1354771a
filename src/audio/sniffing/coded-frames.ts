import { isFreeFormat, mpegHeader } from "../mp3/mpeg-header.ts";

/** The header of a compressed audio frame. */
export interface CodedFrame {
  readonly name: string;
  /** Size of the whole frame, bytes; undefined if only the distance to the next frame reveals it (free format). */
  readonly frameBytes: number | undefined;
  /** The bits of the third byte that all frames of a stream share; the first two bytes are equal. */
  readonly sharedBits: number;
}

/** Size of a header, bytes. */
export const CODED_HEADER_BYTES = 6;
/** Number of frames that prove a format at the start of a stream. */
const FRAMES_NEEDED = 3;
/** Length of the longest frame, bytes; a longer frame is not recognised. */
export const MAX_CODED_FRAME_BYTES = 2048;
/** Range of lengths of a free-format frame, bytes. */
const MIN_FREE_BYTES = 24;
const MAX_FREE_BYTES = 4096;

const RATE_BITS = 0x0c;
/** Profile, sample rate and the first bit of the channels. */
const ADTS_BITS = 0xfd;
const MPEG1_RATES = [44_100, 48_000, 32_000];
/** kbit/s of layers I and II, each at full and at half rate (ISO/IEC 11172-3 and 13818-3). */
const KBITS_I = [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448];
const KBITS_I_HALF = [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256];
const KBITS_II = [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384];
const KBITS_II_HALF = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

/** Reads the header of an MPEG (all layers) or AAC (ADTS) frame; returns undefined for other bytes. */
export function codedFrame(bytes: Uint8Array, at: number): CodedFrame | undefined {
  if (bytes[at] !== 0xff || at + CODED_HEADER_BYTES > bytes.length) return undefined;
  if (isAdtsAt(bytes, at)) return adtsFrame(bytes, at);
  // Very few files use emphasis.
  if ((bytes[at + 3]! & 3) !== 0) return undefined;
  const header = mpegHeader(bytes, at);
  if (header !== undefined) return { name: "MP3", frameBytes: header.frameBytes, sharedBits: RATE_BITS };
  if (isFreeFormat(bytes, at)) return { name: "free-format MP3", frameBytes: undefined, sharedBits: RATE_BITS | 0xf0 };
  return olderFrame(bytes, at);
}

/**
 * The format whose consecutive frames are found here; "cut" if the bytes end too early to be
 * certain. A periodic sound may look like frames, but its header recurs within the first frame.
 */
export function codedFramesAt(bytes: Uint8Array, at: number, count = FRAMES_NEEDED): string | "cut" | undefined {
  const first = codedFrame(bytes, at);
  if (first === undefined) return isCut(bytes, at) ? "cut" : undefined;
  const length = first.frameBytes ?? freeBytes(bytes, at);
  if (length === "cut") return "cut";
  if (length === undefined || headerRecurs(bytes, at, length)) return undefined;
  let next = at;
  let frame: CodedFrame | undefined = first;
  for (let frames = 1; frames < count; frames++) {
    next += frame.frameBytes ?? length + padding(bytes, next) - padding(bytes, at);
    if (next + CODED_HEADER_BYTES > bytes.length) return isCut(bytes, next) ? "cut" : undefined;
    frame = codedFrame(bytes, next);
    if (frame === undefined || !isSameKind(bytes, next, bytes, at, first.sharedBits)) return undefined;
  }
  return first.name;
}

/** True if two headers are from frames of one stream. */
export function isSameKind(
  bytes: Uint8Array,
  at: number,
  otherBytes: Uint8Array,
  otherAt: number,
  sharedBits: number,
): boolean {
  const isSync = bytes[at] === otherBytes[otherAt] && bytes[at + 1] === otherBytes[otherAt + 1];
  return isSync && ((bytes[at + 2]! ^ otherBytes[otherAt + 2]!) & sharedBits) === 0;
}

/** True if a header of the same kind occurs within the first frame. */
export function headerRecurs(bytes: Uint8Array, at: number, frameBytes: number): boolean {
  const sharedBits = codedFrame(bytes, at)?.sharedBits ?? 0;
  for (let i = bytes.indexOf(0xff, at + 1); i !== -1 && i < at + frameBytes; i = bytes.indexOf(0xff, i + 1))
    if (isSameKind(bytes, i, bytes, at, sharedBits) && codedFrame(bytes, i) !== undefined) return true;
  return false;
}

/** The distance to the next free-format frame, bytes. */
function freeBytes(bytes: Uint8Array, at: number): number | "cut" | undefined {
  for (let next = at + MIN_FREE_BYTES; next < at + MAX_FREE_BYTES; next++) {
    if (next + CODED_HEADER_BYTES > bytes.length) return "cut";
    if (isSameKind(bytes, next, bytes, at, RATE_BITS | 0xf0) && isFreeFormat(bytes, next)) return next - at;
  }
  return undefined;
}

const padding = (bytes: Uint8Array, at: number): number => (bytes[at + 2]! >> 1) & 1;

/** True if the bytes end here, within a possible header. */
function isCut(bytes: Uint8Array, at: number): boolean {
  if (at + CODED_HEADER_BYTES <= bytes.length) return false;
  return (bytes[at] ?? 0xff) === 0xff && (bytes[at + 1] ?? 0xff) >= 0xe0;
}

/** True if an AAC frame may start here. */
export function isAdtsAt(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0xff && (bytes[at + 1]! & 0xf6) === 0xf0;
}

function adtsFrame(bytes: Uint8Array, at: number): CodedFrame | undefined {
  const rate = (bytes[at + 2]! >> 2) & 15;
  const frameBytes = ((bytes[at + 3]! & 3) << 11) | (bytes[at + 4]! << 3) | (bytes[at + 5]! >> 5);
  if (rate > 12 || frameBytes < 16 || frameBytes > MAX_CODED_FRAME_BYTES) return undefined;
  return { name: "AAC", frameBytes, sharedBits: ADTS_BITS };
}

/** Layers I and II. */
function olderFrame(bytes: Uint8Array, at: number): CodedFrame | undefined {
  const [second, third] = [bytes[at + 1]!, bytes[at + 2]!];
  const version = (second >> 3) & 3;
  const layer = (second >> 1) & 3;
  const baseRate = MPEG1_RATES[(third >> 2) & 3];
  if (second < 0xf0 || version === 1 || layer < 2 || baseRate === undefined) return undefined;
  const isFullRate = version === 3;
  const isLayerI = layer === 3;
  const table = isLayerI ? (isFullRate ? KBITS_I : KBITS_I_HALF) : isFullRate ? KBITS_II : KBITS_II_HALF;
  const kbits = table[third >> 4];
  if (!kbits) return undefined;
  const sampleRate = isFullRate ? baseRate : version === 2 ? baseRate / 2 : baseRate / 4;
  const slots = (third >> 1) & 1;
  const frameBytes = isLayerI
    ? 4 * (Math.floor((12_000 * kbits) / sampleRate) + slots)
    : Math.floor((144_000 * kbits) / sampleRate) + slots;
  if (frameBytes > MAX_CODED_FRAME_BYTES) return undefined;
  return { name: isLayerI ? "MPEG layer I" : "MPEG layer II", frameBytes, sharedBits: RATE_BITS };
}

/** First byte of an SBC frame (A2DP 1.3, appendix B). Frames of Bluetooth calls start with another byte. */
const SBC_SYNC = 0x9c;
const SBC_FRAMES = 3;

/** True if frames of SBC, the codec of Bluetooth, follow each other from the beginning. */
export function isSbc(bytes: Uint8Array): boolean {
  let at = 0;
  for (let frames = 0; frames < SBC_FRAMES; frames++) {
    if (bytes[at] !== SBC_SYNC || bytes[at + 1] !== bytes[1] || at + 3 > bytes.length) return false;
    at += sbcFrameBytes(bytes[at + 1]!, bytes[at + 2]!);
  }
  return true;
}

function sbcFrameBytes(settings: number, bitpool: number): number {
  const blocks = 4 * (((settings >> 4) & 3) + 1);
  const mode = (settings >> 2) & 3;
  const subbands = settings & 1 ? 8 : 4;
  const channels = mode === 0 ? 1 : 2;
  // Separate channels have a bit pool each; joint stereo has a bit for each band.
  const bits = mode < 2 ? blocks * channels * bitpool : (mode === 3 ? subbands : 0) + blocks * bitpool;
  return 4 + (subbands * channels) / 2 + Math.ceil(bits / 8);
}
