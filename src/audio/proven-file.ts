import { lettersAt } from "./file-tags.ts";
import { isWaveAt } from "./wav-chunks.ts";

/** Number of bytes at the beginning of a file that prove its format. */
export const PROOF_BYTES = 12;

/** Signatures by position; together they have at least six bytes, so that samples practically never look like them. */
const SIGNATURES: readonly (readonly [name: string, ...parts: readonly (readonly [at: number, letters: string])[]])[] =
  [
    ["FLAC", [0, "fLaC"], [5, "\0\0\x22"]],
    ["WebM or Matroska", [0, "\x1a\x45\xdf\xa3"], [5, "\x42\x86"]],
    ["WebM or Matroska", [0, "\x1a\x45\xdf\xa3\x01\0\0\0\0\0\0"]],
    ["WebM or Matroska", [0, "\x1f\x43\xb6\x75\x01\xff\xff\xff"]],
    ["MP4 (M4A or AAC)", [0, "\0\0"], [4, "ftyp"]],
    ["MP4 (M4A or AAC)", [0, "\0\0"], [4, "styp"]],
    ["AIFF", [0, "FORM"], [8, "AIF"]],
    ["Core Audio Format", [0, "caff\0\x01\0\0"]],
    ["AU", [0, ".snd\0\0\0"]],
    ["AMR", [0, "#!AMR\n"]],
    ["AMR", [0, "#!AMR-WB"]],
    ["MIDI", [0, "MThd\0\0\0\x06"]],
    ["Windows Media Audio", [0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11"]],
    ["big-endian WAV (RIFX)", [0, "RIFX"], [8, "WAVE"]],
    ["AVI video", [0, "RIFF"], [8, "AVI "]],
    ["a WebP image", [0, "RIFF"], [8, "WEBP"]],
    ["a PNG image", [0, "\x89PNG\r\n\x1a\n"]],
    ["a JPEG image", [0, "\xff\xd8\xff"], [6, "JFIF"]],
    ["a JPEG image", [0, "\xff\xd8\xff"], [6, "Exif"]],
    ["a PDF document", [0, "%PDF-1."]],
    ["a ZIP archive", [0, "PK\x03\x04"], [5, "\0"], [7, "\0"]],
    ["MP3 with an APE tag", [0, "APETAGEX"]],
  ];
const MAX_OGG_TYPE = 7;

/**
 * The name of the file that begins with these bytes, if at least {@link PROOF_BYTES} of them prove it beyond doubt. `WAV`
 * and `MP3` are names too.
 */
export function provenFile(bytes: Uint8Array): string | undefined {
  if (isWaveAt(bytes, 0)) return "WAV";
  if (isId3At(bytes)) return "MP3";
  if (lettersAt(bytes, 0, "OggS\0") && bytes[5]! <= MAX_OGG_TYPE) return "Ogg (Vorbis or Opus)";
  return SIGNATURES.find(([, ...parts]) => parts.every(([at, letters]) => lettersAt(bytes, at, letters)))?.[0];
}

/** True for an ID3v2 tag with a version that exists, and a size of seven bits a byte. */
function isId3At(bytes: Uint8Array): boolean {
  if (!lettersAt(bytes, 0, "ID3")) return false;
  const [version = 0, revision = 0xff, flags = 0xff, ...size] = bytes.subarray(3, 10);
  const isSize = size.length === 4 && size.every((byte) => byte < 0x80);
  return version >= 2 && version <= 4 && revision === 0 && (flags & 15) === 0 && isSize;
}
