import { Playout, type PlayoutTap } from "../../audio/playout/playout.ts";
import type { AheadSource, FrameSource } from "../../ports/media.ts";

/**
 * Audio before the call's own: silence and key tones. The call's playout waits until the prelude has ended, so that the
 * playout's queue is heard in full. The prelude has its own playout, whose samples never count as heard.
 */
export class Prelude implements FrameSource, AheadSource {
  readonly #opening: Playout;
  readonly #main: Playout;
  #source: Playout;
  #recall: (() => void) | undefined;

  /** @param main the call's playout, heard from {@link end} on */
  constructor(main: Playout) {
    this.#main = main;
    this.#opening = new Playout(main.sampleRate);
    this.#source = this.#opening;
  }

  /** Length so far, ms. */
  get lengthMs(): number {
    return this.#opening.clockMs;
  }

  get ahead(): AheadSource {
    return this;
  }

  set recall(recall: (() => void) | undefined) {
    this.#recall = recall;
    this.#source.recall = recall;
  }

  get recall(): (() => void) | undefined {
    return this.#recall;
  }

  set tap(tap: PlayoutTap | undefined) {
    this.#opening.tap = tap;
  }

  read(frame: Int16Array): number {
    return this.#source.read(frame);
  }

  pull(frame: Int16Array): number {
    return this.#source.pull(frame);
  }

  sent(samples: number, silence: number, hasRunDry: boolean): void {
    this.#source.sent(samples, silence, hasRunDry);
  }

  /** Resolves once this much silence has been heard. */
  pause(ms: number): Promise<void> {
    this.#opening.silence(ms);
    return this.#whenPlayed();
  }

  /** Resolves once the tones have been heard. */
  tones(samples: Int16Array): Promise<void> {
    this.#opening.enqueue(samples);
    return this.#whenPlayed();
  }

  /** Ends the prelude after this much silence; the call's audio follows. */
  endAfter(ms: number): void {
    if (ms === 0) this.end();
    else {
      this.#opening.silence(ms);
      this.#opening.mark("", () => this.end());
    }
  }

  /** Ends the prelude; the call's audio follows at once. Idempotent. */
  end(): void {
    if (this.#source === this.#main) return;
    this.#opening.clear();
    this.#opening.recall = undefined;
    this.#source = this.#main;
    this.#main.recall = this.#recall;
  }

  #whenPlayed(): Promise<void> {
    return new Promise((resolve) => this.#opening.mark("", () => resolve()));
  }
}
