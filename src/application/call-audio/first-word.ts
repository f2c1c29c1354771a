import { samplesToMs } from "../../audio/samples/pcm.ts";
import { Steadiness } from "../../audio/voice/steadiness.ts";
import { FIRST_WORD_PAUSE_MS, MIN_FIRST_WORD_MS } from "../../domain/calls/message-start.ts";
import type { CallTap } from "./call-tap.ts";
import type { LiveCallMedia } from "./call-types/call-type-program.ts";

/** Length of voice that distinguishes speech from the steady tones of networks, ms. */
const CERTAIN_MS = 320;

/** Finds the callee's first word after {@link await}; ringing is not a word. Allocates nothing per frame. */
export class FirstWord implements CallTap {
  readonly #callee: LiveCallMedia["callee"];
  readonly #sampleRate: number;
  readonly #report: (hasEnded: boolean) => void;
  #steadiness: Steadiness;
  #isAwaited = false;
  #hasBegun = false;
  #voicedMs = 0;
  #quietMs = 0;

  /**
   * @param callee analysis of the frame that is added next
   * @param report called on the leg's clock when a long word has begun, and when a word has ended
   */
  constructor(callee: LiveCallMedia["callee"], sampleRate: number, report: (hasEnded: boolean) => void) {
    this.#callee = callee;
    this.#sampleRate = sampleRate;
    this.#report = report;
    this.#steadiness = new Steadiness(sampleRate);
  }

  /** Starts the wait: the next word is the callee's first. */
  await(): void {
    this.#isAwaited = true;
    this.#reset();
  }

  inbound(frame: Int16Array, received: Int16Array = frame): void {
    if (!this.#isAwaited) return;
    const ms = samplesToMs(received.length, this.#sampleRate);
    if (this.#callee.isVoiced) this.#voice(received, ms);
    else if (this.#voicedMs > 0) this.#addQuietMs(ms);
  }

  #voice(received: Int16Array, ms: number): void {
    this.#steadiness.push(received);
    this.#voicedMs += ms;
    this.#quietMs = 0;
    if (this.#hasBegun || this.#voicedMs < CERTAIN_MS || this.#steadiness.isSteady) return;
    this.#hasBegun = true;
    this.#report(false);
  }

  #addQuietMs(ms: number): void {
    this.#quietMs += ms;
    if (this.#quietMs < FIRST_WORD_PAUSE_MS) return;
    if (this.#voicedMs >= MIN_FIRST_WORD_MS && !this.#steadiness.isSteady) {
      this.#isAwaited = false;
      this.#report(true);
    } else this.#reset();
  }

  #reset(): void {
    this.#steadiness = new Steadiness(this.#sampleRate);
    this.#hasBegun = false;
    this.#voicedMs = 0;
    this.#quietMs = 0;
  }
}
