import { pcmFromBytes } from "../../audio/samples/pcm.ts";
import { concatBytes } from "../../base/concat-bytes.ts";
import type { StoredRecording } from "../../ports/recordings.ts";

/** Contents of a WAV file of two channels. */
export interface WavFile {
  /** Sample rate, Hz. */
  readonly sampleRate: number;
  readonly left: Int16Array;
  readonly right: Int16Array;
}

/** The bytes of a recording, or of a part of it. */
export async function bytesOf(recording: StoredRecording, from?: number, to?: number): Promise<Uint8Array> {
  return concatBytes(await Array.fromAsync(recording.bytes(from, to), (piece) => piece.slice()));
}

/** Reads a WAV file; throws an Error unless it has 16 bits, two channels, and the lengths that its header states. */
export function readWavFile(bytes: Uint8Array): WavFile {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const letters = (at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4));
  if (letters(0) !== "RIFF" || letters(8) !== "WAVE") throw new Error("the recording is not a WAV file");
  if (view.getUint32(4, true) !== bytes.length - 8)
    throw new Error("the RIFF chunk does not have the length that it states");
  let sampleRate = 0;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at + 4, true);
    const from = at + 8;
    if (from + size > bytes.length) throw new Error(`the chunk "${letters(at)}" is longer than the file`);
    if (letters(at) === "fmt ") {
      const format = [view.getUint16(from, true), view.getUint16(from + 2, true), view.getUint16(from + 14, true)];
      if (format.join() !== "1,2,16")
        throw new Error(`the format is ${format.join()}: it must be 1,2,16 (PCM, 2 channels, 16 bits)`);
      sampleRate = view.getUint32(from + 4, true);
    } else if (letters(at) === "data") {
      const samples = pcmFromBytes(bytes.subarray(from, from + size));
      return { sampleRate, left: channel(samples, 0), right: channel(samples, 1) };
    }
    at = from + size + (size % 2);
  }
  throw new Error("the WAV file has no data chunk");
}

function channel(samples: Int16Array, index: 0 | 1): Int16Array {
  return Int16Array.from({ length: samples.length / 2 }, (_, i) => samples[2 * i + index]!);
}
