import { msToSamples } from "./pcm.ts";

/** A channel without samples for this long is silent, and a stretch that is missing this long never existed, ms. */
const GONE_MS = 1_000;
/** Time that passes without a sample of either channel does not count beyond this: this thread stood still, ms. */
const STILL_MS = 100;
/** Samples that arrive within this time belong to the same tick of the clock, ms. */
const TICK_MS = 10;
/** So much is handed on at once, ms. */
const BLOCK_MS = 200;

/** Takes the next samples of both channels, from the start of the arrays, which are used again afterwards. */
export type TakeChannels = (left: Int16Array, right: Int16Array, samples: number) => void;

/**
 * Two channels of one call, brought to the same time. Each is known by its samples alone, from clocks that run alike but do not
 * always run: nothing comes back before the peer speaks, nothing goes out while it holds us. If one continues and the
 * other does not, the other one is silent there; what only comes late, because this thread stood still, is put where it
 * belongs. So the channels are never more than a frame apart, however long the call.
 */
export class AlignedChannels {
  readonly #left = new Channel();
  readonly #right = new Channel();
  readonly #take: TakeChannels;
  readonly #frame: number;
  readonly #block: number;
  #clock = 0;
  #seenAt: number | undefined;

  /** @param frameMs length of a frame of either channel, ms */
  constructor(sampleRate: number, frameMs: number, take: TakeChannels) {
    this.#take = take;
    this.#frame = msToSamples(frameMs, sampleRate);
    this.#block = msToSamples(BLOCK_MS, sampleRate);
  }

  /** The next `length` samples of the left channel, from `from` on; without samples, silence. @param now ms, monotonic */
  left(samples: Int16Array | undefined, from: number, length: number, now: number): void {
    this.#add(this.#left, this.#right, samples, from, length, now);
  }

  /** The same of the right channel. */
  right(samples: Int16Array | undefined, from: number, length: number, now: number): void {
    this.#add(this.#right, this.#left, samples, from, length, now);
  }

  /** Hands on the rest, the channels equally long. */
  finish(): void {
    const [left, right] = [this.#left, this.#right];
    left.settle();
    right.settle();
    left.append(undefined, 0, right.length - left.length);
    right.append(undefined, 0, left.length - right.length);
    this.#handOn(left.length);
  }

  #add(mine: Channel, other: Channel, samples: Int16Array | undefined, from: number, length: number, now: number) {
    this.#clock += Math.min(STILL_MS, now - (this.#seenAt ?? now));
    this.#seenAt = now;
    const clock = this.#clock;
    if (mine.gone(clock)) {
      mine.settle();
      // Begins (again): with the frame of the other one that is of the same tick, or behind all there is of it.
      if (clock - other.lastAt >= TICK_MS) mine.append(undefined, 0, other.length - mine.length);
    } else mine.compare(other.length - mine.length, this.#frame, clock);
    if (other.gone(clock)) {
      other.settle();
      other.append(undefined, 0, mine.length - other.length);
    }
    mine.lastAt = clock;
    mine.append(samples, from, length);
    const ready = Math.min(mine.settled, other.settled);
    if (ready >= this.#block) this.#handOn(ready);
  }

  #handOn(samples: number): void {
    this.#take(this.#left.samples, this.#right.samples, samples);
    this.#left.drop(samples);
    this.#right.drop(samples);
  }
}

/** A stretch that did not come; what followed it stands too early in the channel, until that is certain. */
interface Gap {
  at: number;
  length: number;
  readonly since: number;
}

/** What of one channel is not handed on yet. */
class Channel {
  samples: Int16Array = new Int16Array(0);
  length = 0;
  /** When something came last. */
  lastAt = Number.NEGATIVE_INFINITY;
  readonly #gaps: Gap[] = [];
  /** The length of all gaps. */
  #missing = 0;

  /** Number of aligned samples. */
  get settled(): number {
    return this.#gaps[0]?.at ?? this.length;
  }

  gone(clock: number): boolean {
    return clock - this.lastAt >= GONE_MS;
  }

  /** Samples arrive; before them the channel is `behind` the other one by this many samples. */
  compare(behind: number, frame: number, clock: number): void {
    if (behind < this.#missing) this.#shorten(behind);
    // The other channel's frame of the same tick may have come before, so one frame proves nothing.
    const gap = behind - this.#missing - frame;
    if (gap > 0) {
      this.#gaps.push({ at: this.length, length: gap, since: clock });
      this.#missing += gap;
    }
    const first = this.#gaps[0];
    if (first === undefined || clock - first.since < GONE_MS) return;
    this.#shorten(behind - frame);
    if (this.#gaps[0] === first) this.#insert();
  }

  /** Puts silence into all gaps. */
  settle(): void {
    while (this.#gaps.length > 0) this.#insert();
  }

  /** Adds samples, or silence; nothing for a length below one. */
  append(samples: Int16Array | undefined, from: number, length: number): void {
    if (length <= 0) return;
    this.#makeRoom(length);
    const at = this.length;
    if (samples === undefined) this.samples.fill(0, at, at + length);
    else for (let i = 0; i < length; i++) this.samples[at + i] = samples[from + i]!;
    this.length += length;
  }

  /** Lets go of samples from the beginning, none of them behind a gap. */
  drop(samples: number): void {
    this.samples.copyWithin(0, samples, this.length);
    this.length -= samples;
    for (const gap of this.#gaps) gap.at -= samples;
  }

  /** What was missing has come late: the gaps, the last one first, are shorter than they seemed. */
  #shorten(missing: number): void {
    for (let gap = this.#gaps.at(-1); gap !== undefined && this.#missing > missing; gap = this.#gaps.at(-1)) {
      const less = Math.min(gap.length, this.#missing - missing);
      gap.length -= less;
      this.#missing -= less;
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
    this.#missing -= gap.length;
    for (const later of this.#gaps) later.at += gap.length;
  }

  #makeRoom(length: number): void {
    if (this.length + length <= this.samples.length) return;
    const larger = new Int16Array(2 * (this.length + length));
    larger.set(this.samples.subarray(0, this.length));
    this.samples = larger;
  }
}
