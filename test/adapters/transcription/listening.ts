import { concatPcm } from "../../../src/audio/pcm.ts";
import { tone } from "../../../src/audio/tone.ts";
import type { Transcription, TranscriptionEvent, TranscriptionSession } from "../../../src/ports/transcription.ts";

/** One session of an engine, and everything that it has said. */
export interface Listening {
  readonly session: TranscriptionSession;
  readonly events: TranscriptionEvent[];
  /** Texts that are final. */
  readonly texts: string[];
  /** Resolves when the events end. */
  readonly ended: Promise<void>;
  readonly abort: AbortController;
}

/** Opens a session for a callee. */
export async function listen(engine: Transcription, sampleRate: number): Promise<Listening> {
  const abort = new AbortController();
  const options = { callId: "call_1", speaker: "callee", sampleRate } as const;
  const session = await engine.open(options, abort.signal);
  const events: TranscriptionEvent[] = [];
  const texts: string[] = [];
  const ended = (async () => {
    for await (const event of session.events) {
      events.push(event);
      if (event.type === "final") texts.push(event.text);
    }
  })();
  return { session, events, texts, ended, abort };
}

/** A turn as the core pushes it: frames of 20 ms with a tone, at once. */
export function speak(session: TranscriptionSession, hz: number, ms: number, atMs: number, sampleRate: number): void {
  const silence = new Int16Array(sampleRate / 5);
  const samples = concatPcm([silence, tone(hz, ms, sampleRate, 8_000), silence]);
  const frame = sampleRate / 50;
  for (let at = 0; at < samples.length; at += frame)
    session.push(samples.subarray(at, at + frame), atMs + (at * 1_000) / sampleRate);
}

/** The errors among events. */
export function errorsIn(events: readonly TranscriptionEvent[]): { message: string; recoverable: boolean }[] {
  return events.flatMap((event) =>
    event.type === "error" ? [{ message: event.error.message, recoverable: event.recoverable }] : [],
  );
}
