import { InternalError } from "../../base/error.ts";
import type { AheadSource, FrameSource } from "../../ports/media.ts";
import { msToSamples, samplesToMs } from "../samples/pcm.ts";
import { PlayoutGaps } from "./playout-gaps.ts";
import { type PlayoutItem, PlayoutQueue } from "./playout-queue.ts";

/** Fills a {@link Playout} while it is played. */
export interface PlayoutSupply {
  /**
   * Adds up to `count` samples, which the leg is about to pull. Called on the leg's clock, before every frame: it
   * neither waits nor throws.
   */
  supply(count: number): void;
}

/**
 * Receives the samples that the callee hears: samples that the leg has read, or reported as sent. Called on the leg's
 * clock: it must not wait, throw, or keep the array.
 */
export interface PlayoutTap {
  /** `length` samples of `samples` from `from` on; without samples, that much silence. */
  onPlayed(samples: Int16Array | undefined, from: number, length: number): void;
}

/**
 * The one queue between a program and its leg, and the clock of what the callee has heard.
 *
 * Programs {@link enqueue} samples at the leg's rate, in pieces of any size, or {@link append} small ones; the leg
 * pulls frames with {@link read}, or ahead of time with {@link pull}. Only samples that the leg has read, or reported
 * as sent, count as heard. All times are whole milliseconds of the leg's own samples, never of a wall clock. The queue
 * has no limit; its writer watches {@link queuedMs}.
 */
export class Playout implements FrameSource, AheadSource {
  readonly sampleRate: number;
  /** Resolves when {@link end} has been called and everything, marks included, has been pulled or cleared. */
  readonly whenDrained: Promise<void>;
  readonly #drainPromise = Promise.withResolvers<void>();
  /** Called once, during the first read that returns signal. */
  onFirstSignal: (() => void) | undefined;
  /**
   * Called after each gap, the silence that the leg sent because no audio was enqueued, before or between signals.
   * Receives its start by {@link clockMs} and its length, ms. Not called after {@link end}.
   */
  onDelay: ((atMs: number, silenceMs: number) => void) | undefined;
  /** Receives the played samples. */
  tap: PlayoutTap | undefined;
  /** Adds samples during playback. */
  supply: PlayoutSupply | undefined;
  /** Set by a leg that pulls ahead. */
  recall: (() => void) | undefined;

  readonly #queue: PlayoutQueue;
  readonly #gaps = new PlayoutGaps();
  /** Number of samples that were sent and not counted yet. */
  #sentSamples = 0;
  #queuedSamples = 0;
  /** Number of queued samples that the leg has pulled and not sent yet. */
  #pulledSamples = 0;
  #enqueuedSamples = 0;
  #heardSamples = 0;
  #clock = 0;
  /** The clock after the last frame with signal. */
  #signalAt = 0;
  #isEnded = false;

  /** @param sampleRate the leg's rate, samples per second */
  constructor(sampleRate: number) {
    this.sampleRate = sampleRate;
    this.#queue = new PlayoutQueue(sampleRate);
    this.whenDrained = this.#drainPromise.promise;
  }

  get ahead(): AheadSource {
    return this;
  }

  /** Signal heard so far, ms. Silence from {@link silence} is not signal. */
  get heardMs(): number {
    return this.#ms(this.#heardSamples);
  }

  /** Time until the queue runs dry, silence included, ms. */
  get queuedMs(): number {
    return this.#ms(this.#queuedSamples);
  }

  /** Number of samples that the leg can still pull. */
  get unpulledSamples(): number {
    return this.#queuedSamples - this.#pulledSamples;
  }

  /** Number of samples that have not been heard, whether pulled or not. */
  get unheardSamples(): number {
    return this.#queuedSamples;
  }

  /** Time since the last frame with signal, or since the first frame if none had signal, ms. */
  get quietMs(): number {
    return this.#ms(this.#clock - this.#signalAt);
  }

  /** All signal ever enqueued, whether heard, cleared or queued, ms. */
  get enqueuedMs(): number {
    return this.#ms(this.#enqueuedSamples);
  }

  /** Length of all frames pulled, filled or not: the leg's time since its first frame. */
  get clockMs(): number {
    return this.#ms(this.#clock);
  }

  /** Number of times that the queue ran dry while playing, before {@link end}. */
  get underruns(): number {
    return this.#gaps.underruns;
  }

  /** True once {@link end} has been called. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Adds samples to the end of the queue. They are not copied: do not write to the array afterwards. */
  enqueue(samples: Int16Array): void {
    this.#add(samples, samples.length, "", undefined);
    this.#enqueuedSamples += samples.length;
  }

  /** Adds a copy of the first `count` samples. Small pieces cost no more memory than their samples. */
  append(samples: Int16Array, count: number): void {
    this.#assertNotEnded();
    this.#queue.append(samples, count);
    this.#queuedSamples += count;
    this.#enqueuedSamples += count;
  }

  /** Adds silence, which does not count as signal: the tail after a message. */
  silence(ms: number): void {
    this.#add(undefined, msToSamples(ms, this.sampleRate), "", undefined);
  }

  /**
   * Calls back, within {@link read}, as soon as everything enqueued before the mark has been pulled; with an empty
   * queue that is the next read. The callback may use the queue but must not throw. A cleared mark is never reached.
   */
  mark(name: string, onReached: (name: string) => void): void {
    this.#add(undefined, 0, name, onReached);
  }

  /** Drops everything in the queue, marks included, and returns {@link heardMs}. */
  clear(): number {
    this.recall?.();
    this.#endGap();
    this.#queue.clear();
    this.#queuedSamples = 0;
    this.#pulledSamples = 0;
    this.#gaps.clear();
    this.#resolveIfDrained();
    return this.heardMs;
  }

  /** Declares that no more audio will be enqueued. Idempotent. */
  end(): void {
    this.#isEnded = true;
    this.#resolveIfDrained();
  }

  /**
   * Fills the frame with the next samples, then with zeros if the queue runs dry; returns the number of signal samples.
   */
  read(frame: Int16Array): number {
    const queue = this.#queue;
    const before = this.#heardSamples;
    let filledSamples = 0;
    this.supply?.supply(frame.length);
    this.#reachMarks();
    while (filledSamples < frame.length) {
      const item = queue.head;
      if (item === undefined) break;
      const copyCount = Math.min(frame.length - filledSamples, item.length - queue.offset);
      queue.copyHead(frame, filledSamples, copyCount);
      filledSamples += copyCount;
      this.#pass(item, copyCount);
    }
    frame.fill(0, filledSamples);
    if (filledSamples < frame.length) this.tap?.onPlayed(undefined, 0, frame.length - filledSamples);
    this.#countSilence(filledSamples, frame.length - filledSamples);
    this.#clock += frame.length;
    this.#gaps.countFrame(filledSamples, frame.length, !this.#isEnded && this.#heardSamples > 0);
    this.#onPassed(before);
    return this.#heardSamples - before;
  }

  pull(frame: Int16Array): number {
    this.supply?.supply(frame.length);
    const filledSamples = this.#queue.pull(frame);
    this.#pulledSamples += filledSamples;
    return filledSamples;
  }

  sent(samples: number, silence: number, hasRunDry: boolean): void {
    const before = this.#heardSamples;
    this.#sentSamples += samples;
    this.#countSilence(samples, silence);
    this.#clock += samples + silence;
    this.#reachMarks();
    // A mark may clear the queue, which calls this method again: the rest is then counted there, before it is dropped.
    while (this.#sentSamples > 0) {
      const item = this.#queue.head;
      const sentCount =
        item === undefined ? this.#sentSamples : Math.min(this.#sentSamples, item.length - this.#queue.offset);
      this.#sentSamples -= sentCount;
      if (item !== undefined) this.#pass(item, sentCount);
    }
    if (silence > 0) this.tap?.onPlayed(undefined, 0, silence);
    if (hasRunDry && !this.#isEnded && this.#heardSamples > 0) this.#gaps.countUnderrun();
    this.#onPassed(before);
  }

  #add(samples: Int16Array | undefined, length: number, name: string, onReached: PlayoutItem["onReached"]): void {
    this.#assertNotEnded();
    if (length === 0 && onReached === undefined) return;
    this.#queue.add(samples, length, name, onReached);
    this.#queuedSamples += length;
  }

  #assertNotEnded(): void {
    if (this.#isEnded) throw new InternalError("the playout has ended: nothing can be added to it");
  }

  /** Counts samples of the item at the head as heard. */
  #pass(item: PlayoutItem, samples: number): void {
    if (item.samples !== undefined) this.#heardSamples += samples;
    this.tap?.onPlayed(item.samples, this.#queue.offset, samples);
    this.#queuedSamples -= samples;
    this.#pulledSamples = Math.max(0, this.#pulledSamples - samples);
    if (this.#queue.pass(samples)) this.#reachMarks();
  }

  #onPassed(heardBefore: number): void {
    this.#queue.compact();
    if (this.#heardSamples > heardBefore) this.#signalAt = this.#clock;
    if (this.#heardSamples > heardBefore && this.onFirstSignal !== undefined) {
      const callback = this.onFirstSignal;
      this.onFirstSignal = undefined;
      callback();
    }
    this.#resolveIfDrained();
  }

  #reachMarks(): void {
    for (let mark = this.#queue.takeMark(); mark; mark = this.#queue.takeMark()) mark.onReached?.(mark.name);
  }

  /** Counts `sent` samples of the queue, followed by `silence` of an empty queue. Called before the clock advances. */
  #countSilence(sent: number, silence: number): void {
    if (sent > 0) this.#endGap();
    if (!this.#isEnded) this.#gaps.extend(silence);
  }

  #endGap(): void {
    const gap = this.#gaps.end();
    if (gap > 0) this.onDelay?.(this.#ms(this.#clock - gap), this.#ms(gap));
  }

  #resolveIfDrained(): void {
    if (this.#isEnded && this.#queue.isEmpty) this.#drainPromise.resolve();
  }

  #ms(samples: number): number {
    return Math.round(samplesToMs(samples, this.sampleRate));
  }
}
