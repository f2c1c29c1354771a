import { id3Bytes } from "../mp3/mp3-frames.ts";

/** Number of bytes that {@link tagAt} needs to recognise a tag. */
export const TAG_HEAD_BYTES = 32;

const ID3V1_BYTES = 128;
/** Length of the extension before an ID3v1 tag, bytes. */
const ENHANCED_BYTES = 227;
/** Length of an APE tag's head, and of its foot, bytes. */
const APE_HEAD_BYTES = 32;
/** Bits in the flags of an APE tag: it has a head, and this is the head. */
const APE_HAS_HEAD = 0x8000_0000;
const APE_IS_HEAD = 0x2000_0000;
const LYRICS_END_BYTES = 9;
/** Number of digits in the size of a Lyrics3v2 tag. */
const LYRICS_SIZE_DIGITS = 6;
/** Maximum length of a Lyrics3v1 tag, which states no size, bytes. */
const MAX_LYRICS_BYTES = 5100;
/** Length of an ID3v2 tag's foot, bytes. */
const ID3_FOOT_BYTES = 10;

/** True if the letters are at this position. */
export function lettersAt(bytes: Uint8Array, at: number, letters: string): boolean {
  for (let i = 0; i < letters.length; i++) if (bytes[at + i] !== letters.charCodeAt(i)) return false;
  return true;
}

/**
 * Length of the tag that starts here (ID3v1, ID3v2, APEv2 or Lyrics3), bytes; 0 if there is none. It may exceed the
 * file: the declared length may be wrong.
 */
export function tagAt(bytes: Uint8Array, at: number): number {
  if (lettersAt(bytes, at, "APETAGEX")) return apeBytes(bytes, at);
  if (lettersAt(bytes, at, "TAG+")) return ENHANCED_BYTES;
  if (lettersAt(bytes, at, "TAG")) return ID3V1_BYTES;
  if (lettersAt(bytes, at, "LYRICSBEGIN")) return lyricsBytes(bytes, at);
  return id3Bytes(bytes, at);
}

/** Start of the tags at the end of a file; the length of the file if it has none. */
export function tagsAtEnd(bytes: Uint8Array, from = 0): number {
  let end = bytes.length;
  for (let length = tagBefore(bytes, end); length > 0 && length <= end - from; length = tagBefore(bytes, end))
    end -= length;
  return end;
}

/** Length of the tag that ends here; 0 if none does. */
function tagBefore(bytes: Uint8Array, end: number): number {
  if (lettersAt(bytes, end - ID3V1_BYTES, "TAG")) return ID3V1_BYTES;
  if (lettersAt(bytes, end - ENHANCED_BYTES, "TAG+")) return ENHANCED_BYTES;
  if (lettersAt(bytes, end - APE_HEAD_BYTES, "APETAGEX")) return apeBytes(bytes, end - APE_HEAD_BYTES);
  if (lettersAt(bytes, end - LYRICS_END_BYTES, "LYRICS200")) return longLyricsBytes(bytes, end);
  if (lettersAt(bytes, end - LYRICS_END_BYTES, "LYRICSEND")) return shortLyricsBytes(bytes, end);
  if (lettersAt(bytes, end - ID3_FOOT_BYTES, "3DI")) return id3FootBytes(bytes, end);
  return 0;
}

/** The length of an APE tag according to its head or its foot, which have the same fields. */
function apeBytes(bytes: Uint8Array, at: number): number {
  if (at + APE_HEAD_BYTES > bytes.length) return 0;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, APE_HEAD_BYTES);
  const flags = view.getUint32(20, true);
  const hasHead = (flags & (APE_HAS_HEAD | APE_IS_HEAD)) !== 0;
  return view.getUint32(12, true) + (hasHead ? APE_HEAD_BYTES : 0);
}

function lyricsBytes(bytes: Uint8Array, at: number): number {
  const end = Math.min(bytes.length, at + MAX_LYRICS_BYTES);
  for (let i = at; i < end; i++)
    if (lettersAt(bytes, i, "LYRICSEND") || lettersAt(bytes, i, "LYRICS200")) return i + LYRICS_END_BYTES - at;
  return 0;
}

function longLyricsBytes(bytes: Uint8Array, end: number): number {
  const sizeAt = end - LYRICS_END_BYTES - LYRICS_SIZE_DIGITS;
  const size = Number(String.fromCharCode(...bytes.subarray(Math.max(0, sizeAt), sizeAt + LYRICS_SIZE_DIGITS)));
  if (Number.isInteger(size) && lettersAt(bytes, sizeAt - size, "LYRICSBEGIN")) return end - (sizeAt - size);
  return shortLyricsBytes(bytes, end); // the size is wrong
}

function shortLyricsBytes(bytes: Uint8Array, end: number): number {
  for (let i = end - LYRICS_END_BYTES; i >= Math.max(0, end - MAX_LYRICS_BYTES); i--)
    if (lettersAt(bytes, i, "LYRICSBEGIN")) return end - i;
  return 0;
}

function id3FootBytes(bytes: Uint8Array, end: number): number {
  let size = 0;
  for (let i = end - 4; i < end; i++) size = size * 128 + ((bytes[i] ?? 0) & 0x7f);
  const length = size + 2 * ID3_FOOT_BYTES;
  return lettersAt(bytes, end - length, "ID3") ? length : 0;
}
