import type { Playout, PlayoutSupply } from "../../../audio/playout/playout.ts";
import { PendingAudio } from "./pending-audio.ts";
import { MAX_RESAMPLED_PIECE, ResampledPlayout } from "./resampled-playout.ts";

/** Length of the audio that is resampled on arrival, ms; the rest is resampled when the leg needs it. */
const READY_MS = 200;
/** Maximum number of pending marks: three for every 20 ms of the longest queue. */
const MAX_MARKS = 10_000;

/**
 * A client's audio on its way to the callee. Except for a short queue that is ready to play, it waits at its own rate
 * until the leg needs it, so that neither an hour of audio in one piece nor a million pieces delay other calls. It is
 * resampled once, as one continuous stream, into the {@link Playout}.
 */
export class OutgoingAudio implements PlayoutSupply {
  readonly #pendingAudio = new PendingAudio();
  #playout: Playout | undefined;
  #resampled: ResampledPlayout | undefined;
  #isPulling = false;
  /** True if the queue has been cleared and no sample has been written since. */
  #isCleared = false;

  /** True if the leg pulls: the callee has answered. */
  get isPulling(): boolean {
    return this.#isPulling;
  }

  /** Length of the audio that has not been played yet, ms. */
  get queuedMs(): number {
    return this.#pendingAudio.ms + (this.#playout?.queuedMs ?? 0);
  }

  /** Length of the signal played so far, ms. */
  get heardMs(): number {
    return this.#playout?.heardMs ?? 0;
  }

  /** Connects the audio to the call's leg before its answer; each attempt has its own leg. */
  connect(playout: Playout): void {
    this.#playout = playout;
    this.#resampled = undefined;
    this.#isPulling = false;
    playout.supply = this;
  }

  /** Queues a copy of the samples. */
  write(samples: Int16Array, sampleRate: number): void {
    this.#isCleared = false;
    const playout = this.#playout;
    const canPlayNow =
      this.#isPulling && playout !== undefined && this.#pendingAudio.isEmpty && samples.length <= MAX_RESAMPLED_PIECE;
    if (canPlayNow && playout.queuedMs < READY_MS) this.#play(playout, samples, sampleRate);
    else this.#pendingAudio.write(samples, sampleRate);
  }

  /**
   * Calls back on the leg's clock once all audio written so far has been played.
   * @throws {RangeError} too many marks are pending
   */
  mark(name: string, onReached: (name: string) => void): void {
    if (this.#pendingAudio.marks >= MAX_MARKS)
      throw new RangeError(`${MAX_MARKS} marks are already pending: wait for some of them`);
    this.#pendingAudio.mark({ name, onReached });
  }

  /** Drops all pending audio and marks. */
  clear(): void {
    this.#isCleared = true;
    this.#pendingAudio.clear();
    this.#resampled = undefined;
    this.#playout?.clear();
  }

  /**
   * Calls back when all pending audio and, unless it was cleared, `tailMs` of silence has been played, so that the
   * callee hears the last words. Calls back at once if none is pending.
   */
  end(tailMs: number, onEnded: () => void): void {
    const playout = this.#playout;
    if (playout === undefined || !this.#isPulling || (this.#isCleared && this.queuedMs === 0)) {
      onEnded();
      return;
    }
    const onPlayed = (): void => {
      if (playout.heardMs > 0) playout.silence(Math.max(0, tailMs - playout.quietMs));
      playout.mark("", onEnded);
    };
    this.#pendingAudio.mark({ name: "", onReached: onPlayed });
  }

  supply(wantedSamples: number): void {
    const playout = this.#playout;
    if (playout === undefined) return;
    this.#isPulling = true;
    const pending = this.#pendingAudio;
    while (!pending.isEmpty && (playout.unpulledSamples < wantedSamples || pending.sampleRate === undefined))
      this.#move(playout);
    if (playout.unheardSamples < wantedSamples) this.#resampled?.flush();
  }

  /** Moves the next pending piece, or mark, into the playout. */
  #move(playout: Playout): void {
    const { sampleRate } = this.#pendingAudio;
    if (sampleRate !== undefined) {
      this.#play(playout, this.#pendingAudio.take(MAX_RESAMPLED_PIECE), sampleRate);
      return;
    }
    const mark = this.#pendingAudio.takeMark();
    if (mark === undefined) return;
    if (this.#resampled === undefined) playout.mark(mark.name, mark.onReached);
    else this.#resampled.mark(mark);
  }

  /** Plays at most {@link MAX_RESAMPLED_PIECE} samples. */
  #play(playout: Playout, samples: Int16Array, sampleRate: number): void {
    if (sampleRate === playout.sampleRate) {
      if (this.#resampled !== undefined) {
        this.#resampled.flush();
        this.#resampled = undefined;
      }
      playout.append(samples, samples.length);
      return;
    }
    if (this.#resampled?.sourceRate !== sampleRate) {
      this.#resampled?.flush();
      this.#resampled = new ResampledPlayout(sampleRate, playout);
    }
    this.#resampled.push(samples, this.#pendingAudio.isEmpty);
  }
}
