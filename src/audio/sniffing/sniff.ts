import { framesAt } from "../mp3/mp3-frames.ts";
import { isWaveAt, partialWaveBytes, waveIn } from "../wav/wav-chunks.ts";
import { afterZeros, audioStart } from "./audio-start.ts";
import { codedFrame, codedFramesAt, isAdtsAt, isSbc } from "./coded-frames.ts";
import { namedFile } from "./named-file.ts";
import { textOpening } from "./text-opening.ts";

/** The result of {@link sniff}: a format that we decode, or the name of another format. */
export type SniffedFormat = "wav" | "mp3" | { readonly unsupported: string };

/** Maximum distance between the tags of a file and its audio, bytes. */
const SEARCH_BYTES = 64 * 1024;
/** Minimum length of text that has no other sign of being text. */
const MIN_TEXT = 4;
/** Names of files that are searched for audio. */
const PLAYABLE = /^(WAV|MP3)/;
/** Packets of an MPEG transport stream. */
const TS_SYNC = 0x47;
const TS_BYTES = 188;

/**
 * Detects the audio format from the bytes alone, never from a declared type.
 *
 * WAV is RIFF or RF64 of type WAVE. MP3 is three consecutive layer III frames of one sample rate. Either starts within
 * 64 KB, after any tags and zeros, so pass the whole file, or its beginning with the tags and 68 KB more. Never throws.
 */
export function sniff(bytes: Uint8Array): SniffedFormat {
  if (bytes.length === 0) return { unsupported: "an empty file" };
  if (isWaveAt(bytes, 0)) return "wav";
  const start = audioStart(bytes);
  if (start >= bytes.length) return { unsupported: "tags without audio after them" };
  const untaggedBytes = bytes.subarray(start);
  const file = namedFile(untaggedBytes, "file");
  if (file !== undefined && !PLAYABLE.test(file)) return { unsupported: file };
  const sound = bytes.subarray(afterZeros(bytes, start));
  if (sound.length === 0) return { unsupported: "zeros without audio" };
  const wave = waveIn(sound.subarray(0, SEARCH_BYTES));
  const frame = firstFrame(sound, wave ?? SEARCH_BYTES);
  if (frame !== undefined) return "mp3";
  if (wave !== undefined) return "wav";
  const name = textName(untaggedBytes) ?? streamName(sound);
  return { unsupported: name ?? `an unknown format (it begins with ${hexadecimal(bytes.subarray(0, 4))})` };
}

function firstFrame(bytes: Uint8Array, maxDistance: number): number | undefined {
  const end = Math.min(bytes.length, maxDistance);
  for (let at = 0; at < end; at++) if (bytes[at] === 0xff && framesAt(bytes, at) === "yes") return at;
  return undefined;
}

function textName(bytes: Uint8Array): string | undefined {
  if (bytes.length >= MIN_TEXT && partialWaveBytes(bytes) === bytes.length) return "a truncated WAV header";
  const text = textOpening(bytes);
  if (text === undefined || (text.name === "text" && text.quote.length < MIN_TEXT)) return undefined;
  return text.name;
}

/**
 * The name of frames and packets that cannot be decoded. One header is enough to know that nothing can play the file.
 */
function streamName(bytes: Uint8Array): string | undefined {
  if (bytes[0] === TS_SYNC && [1, 2, 3].every((packet) => bytes[packet * TS_BYTES] === TS_SYNC)) return "MPEG-TS";
  if (isSbc(bytes)) return "SBC";
  if (isAdtsAt(bytes, 0)) return "AAC";
  const frame = codedFrame(bytes, 0);
  const isCertain = frame?.frameBytes !== undefined || codedFramesAt(bytes, 0, 2) === frame?.name;
  return isCertain && frame?.name !== "MP3" ? frame?.name : undefined;
}

function hexadecimal(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
}
