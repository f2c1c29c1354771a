import { AudioFormatError } from "./audio-format-error.ts";
import { framesAt } from "./mp3-frames.ts";
import { PROOF_BYTES, provenFile } from "./proven-file.ts";
import { fileNamed } from "./sniff.ts";

/** The format of audio that a server has sent: 16-bit samples without a header, or a file that states what it is. */
export type ServedFormat = "samples" | "wav" | "mp3";

/** Bytes that tell text from samples: loud samples may look like some letters, but not like as many. */
const TEXT_BYTES = 64;
/** Maximum number of characters of a text that an error quotes. */
const MAX_QUOTE = 120;
/** Compressed data, named by fewer bytes than samples could begin with; a voice begins quietly. */
const SHORT_SIGNATURES: readonly (readonly [signature: readonly number[], name: string])[] = [
  [[0x1f, 0x8b, 0x08], "gzip"],
  [[0x50, 0x4b, 0x03, 0x04], "a ZIP archive"],
  [[0x77, 0x76, 0x70, 0x6b], "WavPack"],
  [[0x46, 0x4c, 0x56, 0x01], "Flash video"],
];

/**
 * Detects by the bytes alone what a server that was asked for samples has sent; undefined: more bytes are needed.
 * @param opening the first bytes
 * @param isWhole true if no more bytes follow
 * @throws {AudioFormatError} naming what it is instead: a text, which is quoted, or a file that is not played
 */
export function servedFormat(opening: Uint8Array, isWhole: boolean): ServedFormat | undefined {
  if (opening.length < TEXT_BYTES && !isWhole) return undefined;
  const name = opening.length < PROOF_BYTES ? undefined : (provenFile(opening) ?? fileNamed(opening));
  if (name === "WAV") return "wav";
  if (name?.startsWith("MP3")) return "mp3";
  const other = name ?? shortNameOf(opening) ?? (isAac(opening) ? "AAC" : undefined);
  if (other !== undefined) throw notSamples(other);
  const text = textOf(opening);
  if (text !== undefined) throw notSamples(`${kindOf(text)}, which begins with ${JSON.stringify(text)}`);
  const frames = framesAt(opening, 0);
  if (frames === "cut" && !isWhole) return undefined;
  return frames === "yes" ? "mp3" : "samples";
}

/** The beginning of a text, if the bytes are one: UTF-8 without control characters. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.length < 2) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what texts do not have
    return /[\u0000-\u0008\u000e-\u001f\u007f]/.test(text) ? undefined : text.trim().slice(0, MAX_QUOTE);
  } catch {
    return undefined;
  }
}

function kindOf(text: string): string {
  if (text.startsWith("<")) return "text (HTML or XML)";
  return /^[{["]/.test(text) ? "text (JSON)" : "text";
}

function shortNameOf(bytes: Uint8Array): string | undefined {
  return SHORT_SIGNATURES.find(([signature]) => signature.every((byte, at) => bytes[at] === byte))?.[1];
}

/** True if an ADTS frame (ISO/IEC 13818-7) begins with the bytes, and another follows it as far as the bytes go. */
function isAac(bytes: Uint8Array): boolean {
  const isSync = (at: number) => bytes[at] === 0xff && ((bytes[at + 1] ?? 0) & 0xf6) === 0xf0;
  if (!isSync(0) || bytes.length < 7) return false;
  const frameBytes = (((bytes[3] ?? 0) & 3) << 11) | ((bytes[4] ?? 0) << 3) | ((bytes[5] ?? 0) >> 5);
  return frameBytes > 7 && (frameBytes + 2 > bytes.length || isSync(frameBytes));
}

function notSamples(name: string): AudioFormatError {
  return new AudioFormatError("not_audio", `it sent ${name}, instead of samples`);
}
