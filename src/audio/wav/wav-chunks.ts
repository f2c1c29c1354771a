import { lettersAt } from "../sniffing/file-tags.ts";

/** Size of a WAVE file's RIFF header, bytes. */
export const RIFF_BYTES = 12;
/** Number of bytes that prove the start of a WAV file between samples: its header and the id of its first chunk. */
export const WAVE_BYTES = 16;
/** Number of bytes in a chunk's id and size. */
export const CHUNK_HEAD_BYTES = 8;

/** Chunks that WAV files are known to have. */
const CHUNK_IDS: readonly string[] = [
  "acid",
  "afsp",
  "aXML",
  "axml",
  "bext",
  "cart",
  "chna",
  "cue ",
  "data",
  "DISP",
  "ds64",
  "FAKE",
  "fact",
  "FLLR",
  "fmt ",
  "ID3 ",
  "id3 ",
  "inst",
  "iXML",
  "JUNK",
  "junk",
  "LIST",
  "LGWV",
  "levl",
  "link",
  "mext",
  "minf",
  "MD5 ",
  "note",
  "PAD ",
  "PEAK",
  "plst",
  "regn",
  "SAUR",
  "slnt",
  "smpl",
  "umid",
  "wavl",
  "_PMX",
];

/** First bytes of printable text. */
const SPACE = 0x20;
const TILDE = 0x7e;

/** Containers of WAV; BW64 is the later name of RF64 (ITU-R BS.2088). */
const CONTAINERS = ["RIFF", "RF64", "BW64"] as const;

/** True if a WAV file starts here. */
export function isWaveAt(bytes: Uint8Array, at: number): boolean {
  return CONTAINERS.some((letters) => lettersAt(bytes, at, letters)) && lettersAt(bytes, at + 8, "WAVE");
}

/** True if a chunk of a known kind starts here. */
export function isKnownChunkAt(bytes: Uint8Array, at: number): boolean {
  return CHUNK_IDS.some((id) => lettersAt(bytes, at, id));
}

/** True if the next four bytes are printable, as all chunk ids are. */
export function isChunkIdAt(bytes: Uint8Array, at: number): boolean {
  for (let i = at; i < at + 4; i++) if (!(bytes[i]! >= SPACE && bytes[i]! <= TILDE)) return false;
  return true;
}

/** Position of the first WAV file in these bytes, up to the id of its first chunk; undefined if there is none. */
export function waveIn(bytes: Uint8Array): number | undefined {
  // Every fourth byte is compared, because one of them is a letter of WAVE.
  for (let i = RIFF_BYTES - 1; i < bytes.length; i += 4) {
    const byte = bytes[i];
    const letter = byte === W ? 0 : byte === A ? 1 : byte === V ? 2 : byte === E ? 3 : undefined;
    if (letter === undefined) continue;
    const at = i - letter - RIFF_BYTES + 4;
    if (isWaveAt(bytes, at) && isKnownChunkAt(bytes, at + RIFF_BYTES)) return at;
  }
  return undefined;
}

const W = 0x57;
const A = 0x41;
const V = 0x56;
const E = 0x45;

/** Maximum length of a header in which {@link wavBodyAt} looks for the samples, bytes. */
const MAX_HEADER_BYTES = 1024;

/** Position of the samples in the WAV file that starts with these bytes; undefined if they are further on. */
export function wavBodyAt(bytes: Uint8Array): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = RIFF_BYTES; at + CHUNK_HEAD_BYTES <= Math.min(bytes.length, MAX_HEADER_BYTES); ) {
    if (lettersAt(bytes, at, "data")) return at + CHUNK_HEAD_BYTES;
    const size = view.getUint32(at + 4, true);
    at += CHUNK_HEAD_BYTES + size + (size % 2);
  }
  return undefined;
}

/** Number of bytes at the end that may be the beginning of a WAV file. */
export function partialWaveBytes(bytes: Uint8Array): number {
  for (let length = Math.min(WAVE_BYTES - 1, bytes.length); length > 0; length--)
    if (mayBeginWave(bytes, bytes.length - length)) return length;
  return 0;
}

function mayBeginWave(bytes: Uint8Array, at: number): boolean {
  return CONTAINERS.some((letters) => matchesSoFar(bytes, at, letters));
}

/** True if the available bytes match these letters, with WAVE after four more bytes. */
function matchesSoFar(bytes: Uint8Array, at: number, letters: string): boolean {
  for (let i = at; i < bytes.length; i++) {
    const position = i - at;
    const letter = position < 4 ? letters[position] : position < 8 ? undefined : "WAVE"[position - 8];
    if (letter !== undefined && bytes[i] !== letter.charCodeAt(0)) return false;
  }
  return true;
}
