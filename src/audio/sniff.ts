import { afterZeros, audioStart } from "./audio-start.ts";
import { framesAt } from "./mp3-frames.ts";
import { isFreeFormat } from "./mpeg-header.ts";
import { waveIn } from "./wav-chunks.ts";

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

/** Maximum distance between the tags of a file and its audio, bytes. */
const SEARCHED_BYTES = 64 * 1024;
/** Maximum length of a frame of free format, bytes. */
const FREE_FRAME_BYTES = 4096;

/**
 * Detects the audio format from the bytes alone, never from a declared type.
 *
 * WAV is RIFF or RF64 of type WAVE. MP3 is three consecutive layer III frames of one sample rate. Either begins within
 * 64 KB, after any tags and zeros, so pass the whole file, or its beginning with the tags and 68 KB more. Never throws.
 */
export function sniff(bytes: Uint8Array): Sniffed {
  if (bytes.length === 0) return { unsupported: "an empty file" };
  if (isWave(bytes)) return "wav";
  const start = audioStart(bytes);
  if (start >= bytes.length) return { unsupported: "tags without audio after them" };
  const tagless = bytes.subarray(start);
  const signature = SIGNATURES.find(([at, letters]) => isAt(tagless, at, letters));
  if (signature !== undefined) return { unsupported: signature[2] };
  const sound = bytes.subarray(afterZeros(bytes, start));
  if (sound.length === 0) return { unsupported: "zeros without audio" };
  const wave = waveIn(sound.subarray(0, SEARCHED_BYTES));
  const frame = firstFrame(sound, wave ?? SEARCHED_BYTES);
  if (frame !== undefined) return "mp3";
  if (wave !== undefined) return "wav";
  return { unsupported: nameOf(sound) ?? `an unknown format (it begins with ${hexadecimal(bytes.subarray(0, 4))})` };
}

function firstFrame(bytes: Uint8Array, maxDistance: number): number | undefined {
  const end = Math.min(bytes.length, maxDistance);
  for (let at = 0; at < end; at++) if (bytes[at] === 0xff && framesAt(bytes, at) === "yes") return at;
  return undefined;
}

/** The name of MPEG audio that cannot be decoded. */
function nameOf(bytes: Uint8Array): string | undefined {
  const [first = 0, second = 0] = bytes;
  if (first !== 0xff) return undefined;
  if ((second & 0xf6) === 0xf0) return "AAC";
  for (let at = 4; at < FREE_FRAME_BYTES && isFreeFormat(bytes, 0); at++)
    if (isFreeFormat(bytes, at) && bytes[at + 1] === second) return "free-format MP3";
  return undefined;
}

function hexadecimal(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
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
