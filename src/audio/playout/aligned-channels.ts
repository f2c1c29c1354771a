import { msToSamples } from "../samples/pcm.ts";

/** Default for {@link AlignmentOptions.silentAfterMs}. */
const SILENT_AFTER_MS = 1_000;
/** Longest pause of both channels that is real, ms; a longer pause means that this thread was blocked. */
const STILL_MS = 100;
/** Maximum gap between samples of the same clock tick, ms. */
const TICK_MS = 10;
/** Default for {@link AlignmentOptions.blockMs}. */
const BLOCK_MS = 200;

/** Options of {@link AlignedChannels}. */
export interface AlignmentOptions {
  /** Shortest piece that is passed on, ms. Default: 200. */
  readonly blockMs?: number;
  /**
   * Maximum time without samples, ms; after that the channel is silent, and missing samples are lost. Nothing is passed
   * on in the meantime; samples that are even later make both channels longer. Default: 1,000.
   */
  readonly silentAfterMs?: number;
}

/** Receives the next samples of both channels, at the start of arrays that are reused afterwards. */
export type TakeChannels = (left: Int16Array, right: Int16Array, samples: number) => void;

/**
 * Aligns the two channels of a call in time, using only their samples. Both clocks have the same rate but may pause: no
 * samples arrive before the remote side sends audio, and none are sent during a hold. If only one channel continues,
 * the other channel is silent there. Samples that are merely late, because this thread was blocked, are put where they
 * belong. The channels are thus never more than a frame apart, even in a long call.
 */
export class AlignedChannels {
  readonly #left: Channel;
  readonly #right: Channel;
  readonly #take: TakeChannels;
  readonly #frame: number;
  readonly #block: number;
  readonly #stillMs: number;
  #clock = 0;
  #lastAddAt: number | undefined;

  /** @param frameMs length of a frame of either channel, ms */
  constructor(
    sampleRate: number,
    frameMs: number,
    take: TakeChannels,
    { blockMs = BLOCK_MS, silentAfterMs = SILENT_AFTER_MS }: AlignmentOptions = {},
  ) {
    this.#left = new Channel(silentAfterMs);
    this.#right = new Channel(silentAfterMs);
    this.#stillMs = Math.min(STILL_MS, silentAfterMs / 2);
    this.#take = take;
    this.#frame = msToSamples(frameMs, sampleRate);
    this.#block = msToSamples(blockMs, sampleRate);
  }

  /** Adds `length` samples to the left channel, from `from` on; without samples, silence. @param now ms, monotonic */
  pushLeft(samples: Int16Array | undefined, from: number, length: number, now: number): void {
    this.#add(this.#left, this.#right, samples, from, length, now);
  }

  /** Adds samples to the right channel, like {@link pushLeft}. */
  pushRight(samples: Int16Array | undefined, from: number, length: number, now: number): void {
    this.#add(this.#right, this.#left, samples, from, length, now);
  }

  /** Passes on the rest, with both channels equally long. */
  finish(): void {
    const [left, right] = [this.#left, this.#right];
    left.fillGaps();
    right.fillGaps();
    left.append(undefined, 0, right.length - left.length);
    right.append(undefined, 0, left.length - right.length);
    this.#takeAligned(left.length);
  }

  #add(channel: Channel, other: Channel, samples: Int16Array | undefined, from: number, length: number, now: number) {
    this.#clock += Math.min(this.#stillMs, now - (this.#lastAddAt ?? now));
    this.#lastAddAt = now;
    const clock = this.#clock;
    if (channel.isSilent(clock)) {
      channel.fillGaps();
      // Starts or resumes the channel: at the other channel's frame of the same tick, or at its end.
      if (clock - other.lastAt >= TICK_MS) channel.append(undefined, 0, other.length - channel.length);
    } else channel.trackGap(other.length - channel.length, this.#frame, clock);
    if (other.isSilent(clock)) {
      other.fillGaps();
      other.append(undefined, 0, channel.length - other.length);
    }
    channel.lastAt = clock;
    channel.append(samples, from, length);
    const alignedLength = Math.min(channel.alignedLength, other.alignedLength);
    if (alignedLength >= this.#block) this.#takeAligned(alignedLength);
  }

  #takeAligned(samples: number): void {
    this.#take(this.#left.samples, this.#right.samples, samples);
    this.#left.drop(samples);
    this.#right.drop(samples);
  }
}

/**
 * Samples that did not arrive. Until they are given up as lost, the samples after them are too early in the channel.
 */
interface Gap {
  at: number;
  length: number;
  readonly since: number;
}

/** The samples of one channel that have not been passed on yet. */
class Channel {
  samples: Int16Array = new Int16Array(0);
  length = 0;
  /** Time of the last samples. */
  lastAt = Number.NEGATIVE_INFINITY;
  readonly #gaps: Gap[] = [];
  /** The length of all gaps. */
  #missingLength = 0;
  readonly #silentAfterMs: number;

  constructor(silentAfterMs: number) {
    this.#silentAfterMs = silentAfterMs;
  }

  /** Number of aligned samples. */
  get alignedLength(): number {
    return this.#gaps[0]?.at ?? this.length;
  }

  isSilent(clock: number): boolean {
    return clock - this.lastAt >= this.#silentAfterMs;
  }

  /** Adds a gap for samples that arrive while the channel lags this many samples behind the other channel. */
  trackGap(lag: number, frame: number, clock: number): void {
    if (lag < this.#missingLength) this.#shorten(lag);
    // The other channel's frame of the same tick may have arrived before, so one frame proves nothing.
    const gap = lag - this.#missingLength - frame;
    if (gap > 0) {
      this.#gaps.push({ at: this.length, length: gap, since: clock });
      this.#missingLength += gap;
    }
    const first = this.#gaps[0];
    if (first === undefined || clock - first.since < this.#silentAfterMs) return;
    this.#shorten(lag - frame);
    if (this.#gaps[0] === first) this.#insert();
  }

  /** Puts silence into all gaps. */
  fillGaps(): void {
    while (this.#gaps.length > 0) this.#insert();
  }

  /** Adds samples, or silence; does nothing if the length is below one. */
  append(samples: Int16Array | undefined, from: number, length: number): void {
    if (length <= 0) return;
    this.#makeRoom(length);
    const at = this.length;
    if (samples === undefined) this.samples.fill(0, at, at + length);
    else for (let i = 0; i < length; i++) this.samples[at + i] = samples[from + i]!;
    this.length += length;
  }

  /** Drops samples at the start; all of them must precede the first gap. */
  drop(samples: number): void {
    this.samples.copyWithin(0, samples, this.length);
    this.length -= samples;
    for (const gap of this.#gaps) gap.at -= samples;
  }

  /** Shortens the gaps after late samples have arrived, the last gap first. */
  #shorten(remaining: number): void {
    for (let gap = this.#gaps.at(-1); gap !== undefined && this.#missingLength > remaining; gap = this.#gaps.at(-1)) {
      const excess = Math.min(gap.length, this.#missingLength - remaining);
      gap.length -= excess;
      this.#missingLength -= excess;
      if (gap.length === 0) this.#gaps.pop();
    }
  }

  /** Puts silence into the first gap. */
  #insert(): void {
    const gap = this.#gaps.shift();
    if (gap === undefined) return;
    this.#makeRoom(gap.length);
    this.samples.copyWithin(gap.at + gap.length, gap.at, this.length);
    this.samples.fill(0, gap.at, gap.at + gap.length);
    this.length += gap.length;
    this.#missingLength -= gap.length;
    for (const laterGap of this.#gaps) laterGap.at += gap.length;
  }

  #makeRoom(length: number): void {
    if (this.length + length <= this.samples.length) return;
    const largerArray = new Int16Array(2 * (this.length + length));
    largerArray.set(this.samples.subarray(0, this.length));
    this.samples = largerArray;
  }
}
