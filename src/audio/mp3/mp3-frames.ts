import { MAX_FRAME_BYTES, mpegHeader } from "./mpeg-header.ts";

/** Number of consecutive frames that prove an MP3: random bytes may look like one header, but not like three. */
const FRAMES_NEEDED = 3;

/** Maximum distance between the tags of an MP3 and its first frame, bytes. */
export const SEARCH_BYTES = 4096;

/** Number of bytes needed to recognise a frame: up to the end of the third header. */
export const RECOGNITION_BYTES: number = (FRAMES_NEEDED - 1) * MAX_FRAME_BYTES + 4;

/**
 * Checks if layer III frames of one sample rate follow each other from `at` on. Returns "cut" if the bytes end too
 * early to be certain.
 */
export function framesAt(bytes: Uint8Array, at: number): "yes" | "no" | "cut" {
  let sampleRate: number | undefined;
  let next = at;
  for (let frames = 0; frames < FRAMES_NEEDED; frames++) {
    if (next + 4 > bytes.length) return mayBeHeader(bytes, next) ? "cut" : "no";
    const header = mpegHeader(bytes, next);
    if (header === undefined || (sampleRate !== undefined && header.sampleRate !== sampleRate)) return "no";
    sampleRate = header.sampleRate;
    next += header.frameBytes;
  }
  return "yes";
}

/** True if fewer than four bytes could be the beginning of a header. */
function mayBeHeader(bytes: Uint8Array, at: number): boolean {
  const [first = 0xff, second = 0xff] = [bytes[at], bytes[at + 1]];
  return first === 0xff && second >= 0xe0;
}

/** Number of bytes at the head of an ID3v2 tag that contain its length. */
export const ID3_HEAD_BYTES = 10;
const MAX_ID3_VERSION = 9;

/**
 * Length of the ID3v2 tag at `at`, bytes (id3.org, ID3v2.4 section 3); 0 if there is none. Some writers state a plain
 * size instead of seven bits per byte; it is assumed if a byte has its top bit set.
 */
export function id3Bytes(bytes: Uint8Array, at: number): number {
  const size = id3Size(bytes, at, 128);
  if (size === undefined) return 0;
  return isPlainSize(bytes, at) ? id3PlainBytes(bytes, at) : ID3_HEAD_BYTES + size + footerBytes(bytes, at);
}

/** Length of the ID3v2 tag at `at` if its size is a plain number, bytes; 0 if there is none. */
export function id3PlainBytes(bytes: Uint8Array, at: number): number {
  const size = id3Size(bytes, at, 256);
  return size === undefined ? 0 : ID3_HEAD_BYTES + size + footerBytes(bytes, at);
}

function id3Size(bytes: Uint8Array, at: number, base: number): number | undefined {
  if (bytes[at] !== 0x49 || bytes[at + 1] !== 0x44 || bytes[at + 2] !== 0x33) return undefined;
  // A RIFF chunk may be named "ID3 ".
  if (at + ID3_HEAD_BYTES > bytes.length || bytes[at + 3]! > MAX_ID3_VERSION) return undefined;
  let size = 0;
  for (let i = 6; i < 10; i++) size = size * base + ((bytes[at + i] ?? 0) % base);
  return size;
}

function isPlainSize(bytes: Uint8Array, at: number): boolean {
  return bytes.subarray(at + 6, at + ID3_HEAD_BYTES).some((byte) => byte >= 0x80);
}

function footerBytes(bytes: Uint8Array, at: number): number {
  return (bytes[at + 5] ?? 0) & 0x10 ? ID3_HEAD_BYTES : 0;
}
