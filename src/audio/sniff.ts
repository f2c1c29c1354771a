import { firstFrame, skipId3 } from "./mp3-frames.ts";

/** The result of {@link sniff}: a format that we decode, or the name of another format. */
export type Sniffed = "wav" | "mp3" | { readonly unsupported: string };

/** Formats with bytes at a fixed position, for a refusal that names them. Letters stand for themselves. */
const SIGNATURES: readonly (readonly [at: number, signature: string, name: string])[] = [
  [0, "OggS", "Ogg (Vorbis or Opus)"],
  [0, "fLaC", "FLAC"],
  [4, "ftyp", "MP4 (M4A or AAC)"],
  [0, "FORM", "AIFF"],
  [0, "caff", "Core Audio Format"],
  [0, ".snd", "AU"],
  [0, "#!AMR", "AMR"],
  [0, "MThd", "MIDI"],
  [0, "ADIF", "AAC"],
  [0, "RIFX", "big-endian WAV (RIFX)"],
  [8, "AVI ", "AVI video"],
  [8, "WEBP", "a WebP image"],
  [0, "\x1a\x45\xdf\xa3", "WebM or Matroska"],
  [0, "\x30\x26\xb2\x75", "Windows Media Audio"],
  [0, "\x89PNG", "a PNG image"],
  [0, "\xff\xd8\xff", "a JPEG image"],
  [0, "%PDF", "a PDF document"],
  [0, "PK\x03\x04", "a ZIP archive"],
  [0, "\x1f\x8b", "gzip"],
  [0, "<", "text (HTML or XML)"],
  [0, "{", "text (JSON)"],
];

/**
 * Detects the audio format from the bytes alone, never from a declared type.
 *
 * WAV is RIFF or RF64 of type WAVE. MP3 is three consecutive layer III frames of one sample rate that begin within
 * 4 KB, after any ID3v2 tags, so pass the whole file, or its beginning with the tags and 8 KB more. Never throws.
 */
export function sniff(bytes: Uint8Array): Sniffed {
  if (bytes.length === 0) return { unsupported: "an empty file" };
  if (isWave(bytes)) return "wav";
  const start = skipId3(bytes);
  if (start >= bytes.length) return { unsupported: "ID3 tags without audio after them" };
  const tagless = bytes.subarray(start);
  for (const [at, signature, name] of SIGNATURES) {
    if (isAt(tagless, at, signature)) return { unsupported: name };
  }
  if (firstFrame(tagless, 0) !== undefined) return "mp3";
  if (tagless[0] === 0xff && ((tagless[1] ?? 0) & 0xf6) === 0xf0) return { unsupported: "AAC" };
  const opening = Array.from(bytes.subarray(0, 4), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return { unsupported: `an unknown format (it begins with ${opening})` };
}

/** Bytes of a file that {@link fileNamed} looks at. */
export const NAMED_BYTES = 12;

/**
 * The name of the file that begins with these bytes, if they prove it beyond doubt: raw samples never begin like this,
 * while a lone `<` is also a sample.
 */
export function fileNamed(bytes: Uint8Array): string | undefined {
  if (isWave(bytes)) return "WAV";
  return SIGNATURES.find(([at, signature]) => signature.length >= 4 && isAt(bytes, at, signature))?.[2];
}

function isWave(bytes: Uint8Array): boolean {
  return (isAt(bytes, 0, "RIFF") || isAt(bytes, 0, "RF64")) && isAt(bytes, 8, "WAVE");
}

function isAt(bytes: Uint8Array, at: number, signature: string): boolean {
  for (let i = 0; i < signature.length; i++) {
    if (bytes[at + i] !== signature.charCodeAt(i)) return false;
  }
  return true;
}
