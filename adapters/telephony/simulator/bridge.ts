import type { ClockMember, MediaClock } from "../../../src/audio/playout/media-clock.ts";
import type { ReleaseCause } from "../../../src/ports/telephony.ts";
import type { SimulatedCallee } from "./callee.ts";

/** Two callees that a transfer has connected with each other, until one of them ends. */
export class Bridge implements ClockMember {
  readonly #clock: MediaClock;
  readonly #one: SimulatedCallee;
  readonly #other: SimulatedCallee;
  readonly #fromOne: Int16Array;
  readonly #fromOther: Int16Array;

  /** @param frameLength samples of one frame */
  constructor(clock: MediaClock, one: SimulatedCallee, other: SimulatedCallee, frameLength: number) {
    this.#clock = clock;
    this.#one = one;
    this.#other = other;
    this.#fromOne = new Int16Array(frameLength);
    this.#fromOther = new Int16Array(frameLength);
    clock.add(this);
  }

  /** One of them has hung up. Idempotent. */
  end(by: SimulatedCallee, cause: ReleaseCause): void {
    this.#clock.remove(this);
    for (const callee of [this.#one, this.#other]) callee.stop(callee === by ? cause : "released");
  }

  tick(): void {
    this.#one.read(this.#fromOne);
    this.#other.read(this.#fromOther);
    this.#one.hear(this.#fromOther);
    this.#other.hear(this.#fromOne);
  }

  tickFailed(): void {
    this.end(this.#one, "internal_error");
  }
}
