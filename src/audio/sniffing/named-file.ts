import { isWaveAt } from "../wav/wav-chunks.ts";
import { lettersAt } from "./file-tags.ts";

/** Number of leading bytes that prove the format of a file. */
export const PROOF_BYTES = 12;

/**
 * The context of the bytes: a `file`, whatever it is; the `opening` of expected samples, which start
 * quietly; or samples `anywhere`, which practically never match six bytes.
 */
export type FilePlace = "file" | "opening" | "anywhere";

type Letters = readonly [at: number, letters: string];

/** Formats by their first letters. Fewer than six letters need one of the listed proofs, depending on the context. */
const SIGNATURES: readonly (readonly [name: string, letters: Letters, ...proofs: readonly (readonly Letters[])[]])[] = [
  ["Ogg (Vorbis or Opus)", [0, "OggS"], ...Array.from("\0\x01\x02\x03\x04\x05\x06\x07", (type) => ogg(type))],
  ["FLAC", [0, "fLaC"], [[5, "\0\0\x22"]]],
  ["WebM or Matroska", [0, "\x1a\x45\xdf\xa3"], [[5, "\x42\x86"]], [[4, "\x01\0\0\0\0\0\0"]]],
  ["WebM or Matroska", [0, "\x1f\x43\xb6\x75\x01\xff\xff\xff"]],
  ["MP4 (M4A or AAC)", [4, "ftyp"], [[0, "\0\0"]]],
  ["MP4 (M4A or AAC)", [4, "styp"], [[0, "\0\0"]]],
  ["MP4 (M4A or AAC)", [4, "wide"]],
  ["MP4 (M4A or AAC)", [4, "moov"]],
  ["AIFF", [0, "FORM"], [[8, "AIF"]]],
  ["Core Audio Format", [0, "caff"], [[4, "\0\x01\0\0"]]],
  ["AU", [0, ".snd"], [[4, "\0\0\0"]]],
  ["AMR", [0, "#!AMR"], [[5, "\n"]], [[5, "-WB"]]],
  ["MIDI", [0, "MThd"], [[4, "\0\0\0\x06"]]],
  ["Windows Media Audio", [0, "\x30\x26\xb2\x75"], [[4, "\x8e\x66\xcf\x11"]]],
  ["big-endian WAV (RIFX)", [0, "RIFX"], [[8, "WAVE"]]],
  ["Wave64", [0, "riff\x2e\x91\xcf\x11"]],
  ["AVI video", [8, "AVI "], [[0, "RIFF"]]],
  ["a WebP image", [8, "WEBP"], [[0, "RIFF"]]],
  ["a PNG image", [0, "\x89PNG"], [[4, "\r\n\x1a\n"]]],
  ["a JPEG image", [0, "\xff\xd8\xff"], [[6, "JFIF"]], [[6, "Exif"]]],
  ["a GIF image", [0, "GIF8"], [[4, "7a"]], [[4, "9a"]]],
  ["a PDF document", [0, "%PDF"], [[4, "-1."]]],
  // biome-ignore format: one row
  ["a ZIP archive", [0, "PK\x03\x04"], [[5, "\0"], [7, "\0"]]],
  ["gzip", [0, "\x1f\x8b"]],
  ["a program", [0, "\x7fELF"]],
  ["Flash video", [0, "FLV\x01"]],
  ["WavPack", [0, "wvpk"]],
  ["True Audio", [0, "TTA1"]],
  ["Creative Voice", [0, "Creative Voice File"]],
  ["Monkey's Audio", [0, "MAC "]],
  ["Musepack", [0, "MPCK"]],
  ["Musepack", [0, "MP+"]],
  ["DSD", [0, "DSD "]],
  ["AC-3", [0, "\x0b\x77"]],
  ["DTS", [0, "\x7f\xfe\x80\x01"]],
  ["MPEG video", [0, "\x00\x00\x01\xba"]],
  ["AAC", [0, "ADIF"]],
  ["MP3 with an APE tag", [0, "APETAGEX"]],
];

/** Minimum number of letters, by context. */
const MIN_LETTERS: Readonly<Record<FilePlace, number>> = { file: 1, opening: 4, anywhere: 6 };

/** The name of the file format that these bytes prove; undefined if they prove none. `WAV` and `MP3` are names too. */
export function namedFile(bytes: Uint8Array, place: FilePlace): string | undefined {
  if (isWaveAt(bytes, 0)) return "WAV";
  if (isId3At(bytes)) return "MP3";
  if (place === "opening" && isGzip(bytes)) return "gzip";
  const min = MIN_LETTERS[place];
  return SIGNATURES.find((signature) => {
    const letters = signature[1];
    if (!matches(bytes, letters)) return false;
    const [, , ...proofs] = signature;
    return letters[1].length >= min || proofs.some((proof) => proof.every((pattern) => matches(bytes, pattern)));
  })?.[0];
}

function matches(bytes: Uint8Array, [at, letters]: Letters): boolean {
  return lettersAt(bytes, at, letters);
}

/** The version and the type of an Ogg page. */
function ogg(type: string): readonly Letters[] {
  return [[4, `\0${type}`]];
}

/** True for gzip of a known method, which proves a file only at the opening. */
function isGzip(bytes: Uint8Array): boolean {
  return lettersAt(bytes, 0, "\x1f\x8b\x08") && bytes[3]! < 0x20;
}

/** True for an ID3v2 tag with a known version, and a size of seven bits per byte. */
function isId3At(bytes: Uint8Array): boolean {
  if (!lettersAt(bytes, 0, "ID3")) return false;
  const [version = 0, revision = 0xff, flags = 0xff, ...size] = bytes.subarray(3, 10);
  const isSize = size.length === 4 && size.every((byte) => byte < 0x80);
  return version >= 2 && version <= 4 && revision === 0 && (flags & 15) === 0 && isSize;
}
