import { samplesToMs } from "../../src/audio/samples/pcm.ts";
import type { AudioFacts, FileBytes } from "../../src/ports/audio-decoder.ts";
import type { AudioJobContext, InspectInput } from "./audio-jobs.ts";
import { forEachPiece } from "./audio-pieces.ts";

/** Maximum level of samples that every phone codec turns into silence: -66 dB. */
const MAX_SILENT_PEAK = 16;

/**
 * Decodes a whole file on the calling thread and emits its length and format. Throws an Error whose
 * message is for the sender of the file: undecodable, empty, silent, too long, or too costly.
 */
export async function inspectJob(input: InspectInput, context: AudioJobContext<AudioFacts>): Promise<void> {
  const limits = { maxCpuMs: input.maxCpuMs, isCancelled: context.isCancelled };
  // Concatenated MP3 files may have different rates.
  const counts = new Map<number, number>();
  const durationMs = (): number => {
    let ms = 0;
    for (const [sampleRate, samples] of counts) ms += samplesToMs(samples, sampleRate);
    return ms;
  };
  let low = Infinity;
  let high = -Infinity;
  const facts = await forEachPiece(new Uint8Array(input.file), input.format, limits, ({ samples, sampleRate }) => {
    if (high - low <= 2 * MAX_SILENT_PEAK) {
      for (const sample of samples) {
        if (sample < low) low = sample;
        if (sample > high) high = sample;
      }
    }
    counts.set(sampleRate, (counts.get(sampleRate) ?? 0) + samples.length);
    if (durationMs() > input.maxDurationMs) {
      throw new Error(`the audio is longer than the limit of ${durationText(input.maxDurationMs)}`);
    }
  });
  if (context.isCancelled()) return;
  if (counts.size === 0) throw new Error(`the ${input.format.toUpperCase()} file holds no audio`);
  if (high - low <= 2 * MAX_SILENT_PEAK) throw new Error(silenceMessage(durationMs(), facts.bytes));
  context.emit({ ...facts, durationMs: Math.max(1, Math.round(durationMs())) });
}

function silenceMessage(durationMs: number, bytes: FileBytes | undefined): string {
  const ignoredBytes = (bytes?.ignored ?? []).reduce((sum, part) => sum + part.bytes, 0);
  const suffix = ignoredBytes === 0 ? "" : `, and ${ignoredBytes} bytes of the file are outside its audio data`;
  return `the audio is silent (${durationText(Math.round(durationMs))} without a sound${suffix}): send a file with sound`;
}

function durationText(ms: number): string {
  return ms > 0 && ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1000} s`;
}
