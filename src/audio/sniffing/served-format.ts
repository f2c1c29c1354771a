import { AudioFormatError } from "../audio-format-error.ts";
import { codedFramesAt } from "./coded-frames.ts";
import { namedFile } from "./named-file.ts";
import { TEXT_BYTES, textOpening } from "./text-opening.ts";

/** The format of audio that a server has sent: 16-bit samples without a header, or a file with one. */
export type ServedFormat = "samples" | "wav" | "mp3";

/** Minimum length of text, bytes. */
const MIN_TEXT = 2;

/**
 * Detects the format of a server's response from its bytes alone; returns undefined while more bytes are needed.
 * @param opening the first bytes
 * @param isComplete true if no more bytes follow
 * @throws {AudioFormatError} that names the actual format: text, which is quoted, or an unsupported file
 */
export function servedFormat(opening: Uint8Array, isComplete: boolean): ServedFormat | undefined {
  if (opening.length < TEXT_BYTES && !isComplete) return undefined;
  const name = namedFile(opening, "opening");
  if (name === "WAV") return "wav";
  if (name?.startsWith("MP3")) return "mp3";
  if (name !== undefined) throw notSamples(name);
  const text = opening.length < MIN_TEXT ? undefined : textOpening(opening);
  if (text !== undefined) throw notSamples(`${text.name}, which begins with ${JSON.stringify(text.quote)}`);
  const frames = codedFramesAt(opening, 0);
  if (frames === "cut" && !isComplete) return undefined;
  if (frames === "MP3") return "mp3";
  if (frames !== undefined && frames !== "cut") throw notSamples(frames);
  return "samples";
}

/** The error of a server that was asked for samples. */
export function notSamples(name: string): AudioFormatError {
  return new AudioFormatError("not_audio", `it sent ${name}, instead of samples`);
}
