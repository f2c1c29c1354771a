import type { ClockMember, MediaClock } from "../../../src/audio/playout/media-clock.ts";
import type { ReleaseCause } from "../../../src/ports/telephony.ts";
import type { SimulatedCallee } from "./callee.ts";

/** Two callees that a transfer has connected with each other, until one of them ends. */
export class Bridge implements ClockMember {
  readonly #clock: MediaClock;
  readonly #first: SimulatedCallee;
  readonly #second: SimulatedCallee;
  readonly #fromFirst: Int16Array;
  readonly #fromSecond: Int16Array;

  /** @param frameLength samples of one frame */
  constructor(clock: MediaClock, first: SimulatedCallee, second: SimulatedCallee, frameLength: number) {
    this.#clock = clock;
    this.#first = first;
    this.#second = second;
    this.#fromFirst = new Int16Array(frameLength);
    this.#fromSecond = new Int16Array(frameLength);
    clock.add(this);
  }

  /** Ends both calls, because one callee has hung up. Idempotent. */
  end(by: SimulatedCallee, cause: ReleaseCause): void {
    this.#clock.remove(this);
    for (const callee of [this.#first, this.#second]) callee.stop(callee === by ? cause : "released");
  }

  tick(): void {
    this.#first.read(this.#fromFirst);
    this.#second.read(this.#fromSecond);
    this.#first.hear(this.#fromSecond);
    this.#second.hear(this.#fromFirst);
  }

  tickFailed(): void {
    this.end(this.#first, "internal_error");
  }
}
