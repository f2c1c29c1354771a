import type { AudioThread } from "../../ports.ts";

/** Interval between two beats of a media thread, ms. */
export const BEAT_MS = 250;
/** Number of checks in a row without a beat after which a thread is stuck. */
const MAX_MISSES = 6;
/** Longest interval between two checks that counts: the whole process was stopped, or its main thread busy, in a longer one. */
const MAX_CHECK_MS = 2 * BEAT_MS;

/** Time without a beat after which a thread counts as stuck, ms. */
export const STUCK_MS: number = MAX_MISSES * BEAT_MS;

/** Indexes of the cells of a heartbeat. */
const BEATS = 0;
const LATENESS_US = 1;
const OVERLOADED = 2;
const CELLS = 3;

/** The load of a thread. */
type Load = Pick<AudioThread, "latenessMs" | "isOverloaded">;

/** Memory in which a media thread shows the main thread that its event loop runs, and its load. */
export class Heartbeat implements Load {
  readonly #cells: Int32Array;

  /** The memory that both threads share. */
  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT);
  }

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new Int32Array(memory);
  }

  /** Counts a beat; wraps at 32 bits. */
  beat({ latenessMs, isOverloaded }: Load): void {
    Atomics.store(this.#cells, LATENESS_US, Math.round(latenessMs * 1_000));
    Atomics.store(this.#cells, OVERLOADED, isOverloaded ? 1 : 0);
    Atomics.add(this.#cells, BEATS, 1);
  }

  /** Number of beats so far. */
  get beats(): number {
    return Atomics.load(this.#cells, BEATS);
  }

  get latenessMs(): number {
    return Atomics.load(this.#cells, LATENESS_US) / 1_000;
  }

  get isOverloaded(): boolean {
    return Atomics.load(this.#cells, OVERLOADED) === 1;
  }
}

/** Detects a stuck thread by its beats, in the main thread. */
export class HeartbeatWatch {
  #beats: number;
  #checkedAt: number;
  #misses = 0;

  /** @param now time on a monotonic clock, ms */
  constructor(beats: number, now: number) {
    this.#beats = beats;
    this.#checkedAt = now;
  }

  /**
   * Checks the thread, every {@link BEAT_MS}; returns true if it is stuck. A check that is late itself proves nothing.
   */
  isStuck(beats: number, now: number): boolean {
    const wasOnTime = now - this.#checkedAt <= MAX_CHECK_MS;
    this.#checkedAt = now;
    if (beats !== this.#beats) this.#misses = 0;
    else if (wasOnTime) this.#misses++;
    this.#beats = beats;
    return this.#misses >= MAX_MISSES;
  }
}
