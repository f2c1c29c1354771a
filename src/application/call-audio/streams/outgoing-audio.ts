import type { Playout, PlayoutSupply } from "../../../audio/playout.ts";
import { PendingAudio } from "./pending-audio.ts";
import { LONGEST_PIECE, ResampledPlayout } from "./resampled-playout.ts";

/** What is got ready for the leg as it arrives, ms; what comes faster is resampled when the leg needs it. */
const READY_MS = 200;
/** More marks than this do not wait: three for every 20 ms of the longest queue. */
const MOST_MARKS = 10_000;

/**
 * What a client sends to the callee. It waits at its own rate until the leg pulls, and beyond a short queue also then, so
 * that neither an hour of audio in one piece nor a million pieces of it make other calls wait. It is resampled once, as
 * one continuous stream, into the {@link Playout}.
 */
export class OutgoingAudio implements PlayoutSupply {
  readonly #held = new PendingAudio();
  #playout: Playout | undefined;
  #resampled: ResampledPlayout | undefined;
  #inboundSince = false;
  /** Nothing was written since the queue was cleared. */
  #cleared = false;

  /** Whether the leg pulls: the callee has answered. */
  get inboundSince(): boolean {
    return this.#inboundSince;
  }

  /** What waits to be played, ms. */
  get queuedMs(): number {
    return this.#held.ms + (this.#playout?.queuedMs ?? 0);
  }

  /** Signal that was played, ms. */
  get heardMs(): number {
    return this.#playout?.heardMs ?? 0;
  }

  /** There is a leg, and perhaps not the first one; it has not been answered yet. */
  connect(playout: Playout): void {
    this.#playout = playout;
    this.#resampled = undefined;
    this.#inboundSince = false;
    playout.supply = this;
  }

  /** The array is not kept. */
  write(samples: Int16Array, sampleRate: number): void {
    this.#cleared = false;
    const playout = this.#playout;
    const atOnce = this.#inboundSince && playout !== undefined && this.#held.empty && samples.length <= LONGEST_PIECE;
    if (atOnce && playout.queuedMs < READY_MS) this.#play(playout, samples, sampleRate);
    else this.#held.write(samples, sampleRate);
  }

  /**
   * Calls back, within the leg's clock, when everything written so far has been played.
   * @throws {RangeError} too many marks wait
   */
  mark(name: string, reached: (name: string) => void): void {
    if (this.#held.marks >= MOST_MARKS) throw new RangeError(`At most ${MOST_MARKS} marks can wait.`);
    this.#held.mark({ name, reached });
  }

  /** Drops what waits, marks included. */
  clear(): void {
    this.#cleared = true;
    this.#held.clear();
    this.#resampled = undefined;
    this.#playout?.clear();
  }

  /**
   * Calls back when everything has been played and, unless it was cleared, `tailMs` of silence after it, so that the last
   * words reach the ear. Where nothing is to be played it calls back at once.
   */
  end(tailMs: number, ended: () => void): void {
    const playout = this.#playout;
    if (playout === undefined || !this.#inboundSince || (this.#cleared && this.queuedMs === 0)) {
      ended();
      return;
    }
    const played = (): void => {
      if (playout.heardMs > 0) playout.silence(Math.max(0, tailMs - playout.quietMs));
      playout.mark("", ended);
    };
    this.#held.mark({ name: "", reached: played });
  }

  supply(wanted: number): void {
    const playout = this.#playout;
    if (playout === undefined) return;
    this.#inboundSince = true;
    const held = this.#held;
    while (!held.empty && (playout.waiting < wanted || held.sampleRate === undefined)) this.#move(playout);
    if (playout.unheard < wanted) this.#resampled?.flush();
  }

  /** Moves the next piece, or mark, from what is held into the queue. */
  #move(playout: Playout): void {
    const { sampleRate } = this.#held;
    if (sampleRate !== undefined) {
      this.#play(playout, this.#held.take(LONGEST_PIECE), sampleRate);
      return;
    }
    const mark = this.#held.takeMark();
    if (mark === undefined) return;
    if (this.#resampled === undefined) playout.mark(mark.name, mark.reached);
    else this.#resampled.mark(mark);
  }

  /** At most {@link LONGEST_PIECE} samples. */
  #play(playout: Playout, samples: Int16Array, sampleRate: number): void {
    if (sampleRate === playout.sampleRate) {
      if (this.#resampled !== undefined) {
        this.#resampled.flush();
        this.#resampled = undefined;
      }
      playout.append(samples, samples.length);
      return;
    }
    if (this.#resampled?.from !== sampleRate) {
      this.#resampled?.flush();
      this.#resampled = new ResampledPlayout(sampleRate, playout);
    }
    this.#resampled.push(samples, this.#held.empty);
  }
}
