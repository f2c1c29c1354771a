import { nextTurn } from "../base/turn-budget.ts";
import type { System } from "../ports/system.ts";

/** Maximum number of event loop turns for work to settle; the embedded storage takes one per write. */
const MAX_TURNS = 20;
/** Number of turns without use of the clock or of random bytes after which work is settled. */
const IDLE_TURNS = 5;

interface Timer {
  readonly due: number;
  readonly run: () => void;
}

/** Options of {@link ManualSystem}. */
export interface ManualSystemOptions {
  /** Start of the wall clock, ms since 1970-01-01 UTC. Default: 2026-01-01T00:00:00Z. */
  readonly now?: number;
  /** Systems with the same seed return the same random bytes. Default: 1. */
  readonly seed?: number;
}

/**
 * A clock that only moves when a test advances it, and reproducible random bytes.
 *
 * ```ts
 * const system = new ManualSystem();
 * const ringport = createRingport({ system, … });
 * await system.advance(60_000); // a minute passes, in a few milliseconds
 * ```
 */
export class ManualSystem implements System {
  readonly #start: number;
  readonly #timers = new Set<Timer>();
  #elapsed = 0;
  /** Offset of the wall clock, ms. */
  #offsetMs = 0;
  #randomState: number;
  /** Number of uses of the clock and of random bytes so far. */
  #useCount = 0;

  constructor({ now = Date.UTC(2026, 0, 1), seed = 1 }: ManualSystemOptions = {}) {
    this.#start = now;
    this.#randomState = seed | 0;
  }

  now(): number {
    this.#useCount++;
    return this.#start + this.#offsetMs + Math.floor(this.#elapsed);
  }

  monotonic(): number {
    this.#useCount++;
    return this.#elapsed;
  }

  /** Predictable bytes, derived from the seed (mulberry32). */
  random(bytes: Uint8Array): void {
    this.#useCount++;
    for (let i = 0; i < bytes.length; i++) {
      this.#randomState = (this.#randomState + 0x6d2b79f5) | 0;
      let value = Math.imul(this.#randomState ^ (this.#randomState >>> 15), this.#randomState | 1);
      value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
      bytes[i] = (value ^ (value >>> 14)) & 0xff;
    }
  }

  after(ms: number, run: () => void): () => void {
    this.#useCount++;
    const timer = { due: this.#elapsed + Math.max(0, ms), run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Sets the wall clock forward, or back if negative, ms; no time passes and no timer moves. */
  jump(ms: number): void {
    this.#offsetMs += Math.trunc(ms);
  }

  /** Stalls the process for `ms`, as if it were stopped: time passes, and due timers run only at the next advance. */
  stall(ms: number): void {
    this.#elapsed += ms;
  }

  /** Number of pending timers. */
  get waiting(): number {
    return this.#timers.size;
  }

  /**
   * Advances the time by `ms` and runs every timer that falls due, in order of time; timers that are due at the same
   * time run in the order in which they were set. The work that a timer has started settles before the next timer runs.
   */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    await this.settle();
    for (let timer = this.#next(end); timer; timer = this.#next(end)) {
      this.#timers.delete(timer);
      this.#elapsed = Math.max(this.#elapsed, timer.due);
      timer.run();
      await this.settle();
    }
    this.#elapsed = Math.max(this.#elapsed, end);
  }

  /**
   * Settles promises that depend only on each other and on the embedded storage, without time passing. Does not wait
   * for other input and output: files, sockets, threads.
   */
  async settle(): Promise<void> {
    let uses = this.#useCount;
    for (let turn = 0, idleTurns = 0; turn < MAX_TURNS && idleTurns < IDLE_TURNS; turn++) {
      await nextTurn();
      idleTurns = this.#useCount === uses ? idleTurns + 1 : 0;
      uses = this.#useCount;
    }
  }

  #next(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) if (timer.due <= end && (!next || timer.due < next.due)) next = timer;
    return next;
  }
}
