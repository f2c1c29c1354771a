import { msToSamples, samplesToMs } from "../../audio/samples/pcm.ts";
import type { Transcription, TranscriptionSession } from "../../ports/transcription.ts";
import { bestRate } from "./listening.ts";
import type { Saying } from "./saying.ts";

const FRAME_MS = 20;
/** Silence after which every engine that detects turns has detected the end of one, ms. */
const PAUSE_MS = 1_500;
/** Filler for a reused array, which engines must no longer read. */
const FILLER = -30_000;

/** One speaker with one saying after another, pushed to a session as the core does. */
export class ScriptedSpeaker {
  /** Position in the call's audio, ms. */
  atMs = 2_000;
  readonly #session: TranscriptionSession;
  readonly #sampleRate: number;
  readonly #endOfTurn: boolean;

  constructor(engine: Transcription, session: TranscriptionSession, sampleRate: number = bestRate(engine)) {
    this.#session = session;
    this.#sampleRate = sampleRate;
    this.#endOfTurn = engine.capabilities.endOfTurn;
  }

  /** Speaks, then is silent; pushes the silence if the engine detects turns, and otherwise commits the turn. */
  say(saying: Saying): void {
    this.#push(saying.samples(this.#sampleRate));
    if (this.#endOfTurn) this.#push(new Int16Array(msToSamples(PAUSE_MS, this.#sampleRate)));
    else this.#session.commit();
  }

  /** Speaks without silence afterwards: the call has ended. */
  sayLast(saying: Saying): void {
    this.#push(saying.samples(this.#sampleRate));
    if (!this.#endOfTurn) this.#session.commit();
  }

  /** Pushes silence of this length. */
  pause(ms: number): void {
    this.#push(new Int16Array(msToSamples(ms, this.#sampleRate)));
    if (!this.#endOfTurn) this.#session.commit();
  }

  /** Frames of 20 ms, in one reused array. */
  #push(samples: Int16Array): void {
    const frame = new Int16Array(msToSamples(FRAME_MS, this.#sampleRate));
    for (let at = 0; at < samples.length; at += frame.length) {
      frame.fill(0);
      frame.set(samples.subarray(at, at + frame.length));
      this.#session.push(frame, this.atMs);
      this.atMs += samplesToMs(frame.length, this.#sampleRate);
    }
    frame.fill(FILLER);
  }
}
