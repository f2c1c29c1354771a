import { mpegHeader } from "./mpeg-header.ts";

/** What {@link sniff} found: a format that we decode, or the name of what it is instead. */
export type Sniffed = "wav" | "mp3" | { readonly unsupported: string };

const SEARCHED_BYTES = 4096;
const FRAMES_NEEDED = 3;

/** Formats told by bytes at a fixed place, for a refusal that names them. Letters stand for themselves. */
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
 * Tells what audio the bytes hold from the bytes alone, never from a declared type.
 *
 * WAV is RIFF or RF64 of type WAVE. MP3 is three consecutive layer III frames of one sample rate that begin within
 * 4 KB, after any ID3v2 tags, so pass the whole file, or its beginning with the tags and 8 KB more. Never throws.
 */
export function sniff(bytes: Uint8Array): Sniffed {
  if (bytes.length === 0) return { unsupported: "an empty file" };
  if ((isAt(bytes, 0, "RIFF") || isAt(bytes, 0, "RF64")) && isAt(bytes, 8, "WAVE")) return "wav";
  const start = skipId3(bytes);
  if (start >= bytes.length) return { unsupported: "ID3 tags without audio after them" };
  const tagless = bytes.subarray(start);
  for (const [at, signature, name] of SIGNATURES) {
    if (isAt(tagless, at, signature)) return { unsupported: name };
  }
  if (holdsMp3(tagless)) return "mp3";
  if (tagless[0] === 0xff && ((tagless[1] ?? 0) & 0xf6) === 0xf0) return { unsupported: "AAC" };
  const opening = Array.from(bytes.subarray(0, 4), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return { unsupported: `an unknown format (it begins with ${opening})` };
}

/** The offset after any ID3v2 tags (id3.org, ID3v2.4 section 3); past the end when a tag claims more than there is. */
function skipId3(bytes: Uint8Array): number {
  let at = 0;
  while (isAt(bytes, at, "ID3") && at + 10 <= bytes.length) {
    let size = 0;
    for (let i = 6; i < 10; i++) size = size * 128 + ((bytes[at + i] ?? 0) & 0x7f);
    const footer = (bytes[at + 5] ?? 0) & 0x10 ? 10 : 0;
    at += 10 + size + footer;
  }
  return at;
}

function holdsMp3(bytes: Uint8Array): boolean {
  const last = Math.min(SEARCHED_BYTES, bytes.length);
  for (let start = 0; start < last; start++) {
    if (bytes[start] !== 0xff) continue;
    let at = start;
    let frames = 0;
    let sampleRate: number | undefined;
    while (frames < FRAMES_NEEDED) {
      const header = mpegHeader(bytes, at);
      if (header === undefined || (sampleRate !== undefined && header.sampleRate !== sampleRate)) break;
      sampleRate = header.sampleRate;
      at += header.frameBytes;
      frames++;
    }
    if (frames === FRAMES_NEEDED) return true;
  }
  return false;
}

function isAt(bytes: Uint8Array, at: number, signature: string): boolean {
  for (let i = 0; i < signature.length; i++) {
    if (bytes[at + i] !== signature.charCodeAt(i)) return false;
  }
  return true;
}
