import { nextTurn } from "../audio/next-turn.ts";
import type { System } from "../ports/system.ts";

/** Turns of the event loop after which everything counts as at rest; the embedded storage takes one for each write. */
const TURNS = 20;

interface Timer {
  readonly due: number;
  readonly run: () => void;
}

/** Options of {@link ManualSystem}. */
export interface ManualSystemOptions {
  /** Start of the wall clock, ms since 1970-01-01 UTC. Default: 2026-01-01T00:00:00Z. */
  readonly now?: number;
  /** Two systems with the same seed draw the same lots. Default: 1. */
  readonly seed?: number;
}

/**
 * A clock that stands still until a test moves it, and chance that comes out the same every time.
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
  /** How far the wall clock has been set, ms. */
  #jumped = 0;
  #chance: number;

  constructor({ now = Date.UTC(2026, 0, 1), seed = 1 }: ManualSystemOptions = {}) {
    this.#start = now;
    this.#chance = seed | 0;
  }

  now(): number {
    return this.#start + this.#jumped + Math.floor(this.#elapsed);
  }

  monotonic(): number {
    return this.#elapsed;
  }

  /** Not secret at all: the bytes follow from the seed (mulberry32). */
  random(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i++) {
      this.#chance = (this.#chance + 0x6d2b79f5) | 0;
      let value = Math.imul(this.#chance ^ (this.#chance >>> 15), this.#chance | 1);
      value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
      bytes[i] = (value ^ (value >>> 14)) & 0xff;
    }
  }

  after(ms: number, run: () => void): () => void {
    const timer = { due: this.#elapsed + Math.max(0, ms), run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Sets the wall clock forward, or back (negative), ms; no time passes and no timer moves. */
  jump(ms: number): void {
    this.#jumped += Math.trunc(ms);
  }

  /** The process stands still for `ms`, as one that was stopped: time passes, and timers that fall due run later. */
  stall(ms: number): void {
    this.#elapsed += ms;
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.size;
  }

  /**
   * Lets `ms` pass: runs every timer that falls due, in order of time and, at the same time, in the order they were
   * set. After each one, what it has started comes to rest before the next one runs.
   */
  async advance(ms: number): Promise<void> {
    const until = this.#elapsed + ms;
    await this.settle();
    for (let timer = this.#next(until); timer; timer = this.#next(until)) {
      this.#timers.delete(timer);
      this.#elapsed = Math.max(this.#elapsed, timer.due);
      timer.run();
      await this.settle();
    }
    this.#elapsed = Math.max(this.#elapsed, until);
  }

  /**
   * Lets promises that wait for nothing but each other and the embedded storage come to rest, without time passing.
   * Other input and output (files, sockets, threads) is not waited for.
   */
  async settle(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn++) await nextTurn();
  }

  #next(until: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) if (timer.due <= until && (!next || timer.due < next.due)) next = timer;
    return next;
  }
}
