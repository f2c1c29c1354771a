import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import type { TranscriptionEvent, TranscriptionSession } from "../../../src/ports/transcription.ts";

/** Pushes a turn as the core does: frames of 20 ms with a tone, without pauses. */
export function speak(session: TranscriptionSession, hz: number, ms: number, atMs: number, sampleRate: number): void {
  const silence = new Int16Array(sampleRate / 5);
  const samples = concatPcm([silence, tone(hz, ms, sampleRate, 8_000), silence]);
  const frame = sampleRate / 50;
  for (let offset = 0; offset < samples.length; offset += frame)
    session.push(samples.subarray(offset, offset + frame), atMs + (offset * 1_000) / sampleRate);
}

/** The errors among events. */
export function errorsIn(events: readonly TranscriptionEvent[]): { message: string; recoverable: boolean }[] {
  return events.flatMap((event) =>
    event.type === "error" ? [{ message: event.error.message, recoverable: event.recoverable }] : [],
  );
}
