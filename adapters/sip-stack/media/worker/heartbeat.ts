/** Interval between two beats of a media thread, ms. */
export const BEAT_MS = 250;
/** Number of checks in a row without a beat after which a thread is stuck. */
const MAX_MISSES = 6;
/** Longest interval between two checks that counts: the whole process was stopped, or its main thread busy, in a longer one. */
const MAX_CHECK_MS = 2 * BEAT_MS;

/** Time without a beat after which a thread counts as stuck, ms. */
export const STUCK_MS: number = MAX_MISSES * BEAT_MS;

/** The counter by which a media thread shows the main thread that its event loop runs. */
export class Heartbeat {
  readonly #beats: Int32Array;

  /** The memory that both threads share. */
  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  }

  constructor(memory: SharedArrayBuffer) {
    this.#beats = new Int32Array(memory);
  }

  /** Counts a beat; wraps at 32 bits. */
  beat(): void {
    Atomics.add(this.#beats, 0, 1);
  }

  /** Number of beats so far. */
  get beats(): number {
    return Atomics.load(this.#beats, 0);
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
