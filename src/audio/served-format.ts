import { AudioFormatError } from "./audio-format-error.ts";
import { codedFramesAt } from "./coded-frames.ts";
import { PROOF_BYTES, provenFile } from "./proven-file.ts";
import { fileNamed } from "./sniff.ts";

/** The format of audio that a server has sent: 16-bit samples without a header, or a file that states what it is. */
export type ServedFormat = "samples" | "wav" | "mp3";

/** Bytes that tell text from samples: loud samples may look like some letters, but not like as many. */
const TEXT_BYTES = 64;
/** Share of ASCII in a text of another encoding. */
const MIN_ASCII = 0.8;
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
  const other = name ?? shortNameOf(opening);
  if (other !== undefined) throw notSamples(other);
  const text = textOf(opening);
  if (text !== undefined) throw notSamples(`${kindOf(text)}, which begins with ${JSON.stringify(text)}`);
  const frames = codedFramesAt(opening, 0);
  if (frames === "cut" && !isWhole) return undefined;
  if (frames === "MP3") return "mp3";
  if (frames !== undefined && frames !== "cut") throw notSamples(frames);
  return "samples";
}

/** The beginning of a text, if the bytes are one: UTF-8, UTF-16 with a mark, or mostly ASCII, without control characters. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.length < 2) return undefined;
  const wide =
    bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "";
  const text = decoded(bytes, wide || "utf-8") ?? (wide === "" ? mostlyAscii(bytes) : undefined);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what texts do not have
  if (text === undefined || /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\ufffd]/.test(text)) return undefined;
  if (wide !== "" && text.length * MIN_ASCII > text.replace(/[^ -~\s]/g, "").length) return undefined;
  return text.trim().slice(0, MAX_QUOTE);
}

function decoded(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

/** A text in an encoding such as Latin-1. */
function mostlyAscii(bytes: Uint8Array): string | undefined {
  if (bytes.length < TEXT_BYTES) return undefined;
  const ascii = bytes.reduce((count, byte) => count + (byte >= 0x20 && byte < 0x7f ? 1 : 0), 0);
  return ascii > MIN_ASCII * bytes.length ? String.fromCharCode(...bytes.subarray(0, TEXT_BYTES)) : undefined;
}

function kindOf(text: string): string {
  if (text.startsWith("<")) return "text (HTML or XML)";
  return /^[{["]/.test(text) ? "text (JSON)" : "text";
}

function shortNameOf(bytes: Uint8Array): string | undefined {
  return SHORT_SIGNATURES.find(([signature]) => signature.every((byte, at) => bytes[at] === byte))?.[1];
}

function notSamples(name: string): AudioFormatError {
  return new AudioFormatError("not_audio", `it sent ${name}, instead of samples`);
}
