import { afterZeros, audioStart } from "./audio-start.ts";
import { framesAt } from "./mp3-frames.ts";
import { isFreeFormat } from "./mpeg-header.ts";
import { namedText } from "./named-text.ts";
import { isWaveAt, waveIn } from "./wav-chunks.ts";

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
  [0, "riff\x2e\x91\xcf\x11", "Wave64"],
  [0, "GIF8", "a GIF image"],
  [0, "\x7fELF", "a program"],
  [0, "FLV\x01", "Flash video"],
  [0, "wvpk", "WavPack"],
  [0, "TTA1", "True Audio"],
  [0, "Creative Voice File", "Creative Voice"],
  [0, "MAC ", "Monkey's Audio"],
  [0, "MPCK", "Musepack"],
  [0, "MP+", "Musepack"],
  [0, "DSD ", "DSD"],
  [0, "\x0b\x77", "AC-3"],
  [0, "\x7f\xfe\x80\x01", "DTS"],
  [0, "\x00\x00\x01\xba", "MPEG video"],
  [4, "wide", "MP4 (M4A or AAC)"],
  [4, "moov", "MP4 (M4A or AAC)"],
  [0, "<", "text (HTML or XML)"],
  [0, "{", "text (JSON)"],
];

/** Maximum distance between the tags of a file and its audio, bytes. */
const SEARCHED_BYTES = 64 * 1024;
/** Bytes that show that a file is a text. */
const TEXT_BYTES = 256;
const MIN_TEXT = 4;
/** Packets of an MPEG transport stream. */
const TS_SYNC = 0x47;
const TS_BYTES = 188;
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
  const name = textName(tagless) ?? nameOf(sound);
  return { unsupported: name ?? `an unknown format (it begins with ${hexadecimal(bytes.subarray(0, 4))})` };
}

function firstFrame(bytes: Uint8Array, maxDistance: number): number | undefined {
  const end = Math.min(bytes.length, maxDistance);
  for (let at = 0; at < end; at++) if (bytes[at] === 0xff && framesAt(bytes, at) === "yes") return at;
  return undefined;
}

/** The name of a text; undefined for other bytes. */
function textName(bytes: Uint8Array): string | undefined {
  const name = namedText(bytes)?.name;
  if (name !== undefined) return name;
  const text = textOf(bytes);
  if (text === undefined || text.length < MIN_TEXT) return undefined;
  if (text.startsWith("<")) return "text (HTML or XML)";
  return /^[[{"]/.test(text) ? "text (JSON)" : "text";
}

/** The beginning of a text, if the bytes are one: printable UTF-8, or UTF-16 of ASCII with its byte order mark. */
function textOf(bytes: Uint8Array): string | undefined {
  const beginning = bytes.subarray(0, TEXT_BYTES);
  const isUtf16 = beginning[0] === 0xff && beginning[1] === 0xfe && beginning[3] === 0 && beginning[5] === 0;
  if (isUtf16) return new TextDecoder("utf-16le").decode(beginning).trim();
  const isPrintable = beginning.every((byte) => (byte >= 0x20 ? byte !== 0x7f : byte >= 0x09 && byte <= 0x0d));
  if (!isPrintable) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(beginning, { stream: true }).trim();
  } catch {
    return undefined;
  }
}

/** The name of MPEG audio that cannot be decoded. */
function nameOf(bytes: Uint8Array): string | undefined {
  const [first = 0, second = 0, third = 0xff] = bytes;
  if (first === TS_SYNC && [1, 2, 3].every((packet) => bytes[packet * TS_BYTES] === TS_SYNC)) return "MPEG-TS";
  if (first !== 0xff) return undefined;
  if ((second & 0xf6) === 0xf0) return "AAC";
  const layer = (second >> 1) & 3;
  const isHeader = second >= 0xe0 && third >> 4 !== 15 && ((third >> 2) & 3) !== 3;
  if (isHeader && ((second >> 3) & 3) !== 1 && layer >= 2)
    return layer === 3 ? "MP1 (MPEG layer I)" : "MP2 (MPEG layer II)";
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
  return isWaveAt(bytes, 0);
}

function isAt(bytes: Uint8Array, at: number, signature: string): boolean {
  for (let i = 0; i < signature.length; i++) {
    if (bytes[at + i] !== signature.charCodeAt(i)) return false;
  }
  return true;
}
