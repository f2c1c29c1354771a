import { msToSamples, samplesToMs } from "../../audio/pcm.ts";
import type { Transcription, TranscriptionSession } from "../../ports/transcription.ts";
import { bestRate } from "./listening.ts";
import type { Saying } from "./saying.ts";

const FRAME_MS = 20;
/** Silence after which every engine that finds the turns has found the end of one, ms. */
const PAUSE_MS = 1_500;
/** What is in the array after it was pushed: nobody may look any more. */
const SPOILT = -30_000;

/** One speaker, who says one thing after another, as the core passes it on to a session. */
export class Talker {
  /** Where in the call's audio the speaker is, ms. */
  atMs = 2_000;
  readonly #session: TranscriptionSession;
  readonly #sampleRate: number;
  readonly #endOfTurn: boolean;

  constructor(engine: Transcription, session: TranscriptionSession, sampleRate: number = bestRate(engine)) {
    this.#session = session;
    this.#sampleRate = sampleRate;
    this.#endOfTurn = engine.capabilities.endOfTurn;
  }

  /** Says it, and is silent then; that is heard where the engine finds the turns, and otherwise the turn is committed. */
  say(saying: Saying): void {
    this.#push(saying.samples(this.#sampleRate));
    if (this.#endOfTurn) this.#push(new Int16Array(msToSamples(PAUSE_MS, this.#sampleRate)));
    else this.#session.commit();
  }

  /** Says it, and there is no silence after it: the call is over. */
  sayLast(saying: Saying): void {
    this.#push(saying.samples(this.#sampleRate));
    if (!this.#endOfTurn) this.#session.commit();
  }

  /** Is silent for so long, which the engine gets to hear. */
  pause(ms: number): void {
    this.#push(new Int16Array(msToSamples(ms, this.#sampleRate)));
    if (!this.#endOfTurn) this.#session.commit();
  }

  /** Frames of 20 ms, in one array that is used again. */
  #push(samples: Int16Array): void {
    const frame = new Int16Array(msToSamples(FRAME_MS, this.#sampleRate));
    for (let at = 0; at < samples.length; at += frame.length) {
      frame.fill(0);
      frame.set(samples.subarray(at, at + frame.length));
      this.#session.push(frame, this.atMs);
      this.atMs += samplesToMs(frame.length, this.#sampleRate);
    }
    frame.fill(SPOILT);
  }
}
