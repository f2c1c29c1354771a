import type { ClockMember, MediaClock } from "../../../src/audio/playout/media-clock.ts";
import type { ReleaseCause } from "../../../src/ports/telephony.ts";
import type { SimulatedCallee } from "./callee.ts";

/** Two callees that a transfer has connected with each other, until one of them ends. */
export class Bridge implements ClockMember {
  readonly #clock: MediaClock;
  readonly #firstCallee: SimulatedCallee;
  readonly #secondCallee: SimulatedCallee;
  readonly #firstCalleeFrame: Int16Array;
  readonly #secondCalleeFrame: Int16Array;

  /** @param frameLength number of samples per frame */
  constructor(clock: MediaClock, first: SimulatedCallee, second: SimulatedCallee, frameLength: number) {
    this.#clock = clock;
    this.#firstCallee = first;
    this.#secondCallee = second;
    this.#firstCalleeFrame = new Int16Array(frameLength);
    this.#secondCalleeFrame = new Int16Array(frameLength);
    clock.add(this);
  }

  /** Ends both calls, because one callee has hung up. Idempotent. */
  end(by: SimulatedCallee, cause: ReleaseCause): void {
    this.#clock.remove(this);
    for (const callee of [this.#firstCallee, this.#secondCallee]) callee.stop(callee === by ? cause : "released");
  }

  tick(): void {
    this.#firstCallee.read(this.#firstCalleeFrame);
    this.#secondCallee.read(this.#secondCalleeFrame);
    this.#firstCallee.hear(this.#secondCalleeFrame);
    this.#secondCallee.hear(this.#firstCalleeFrame);
  }

  tickFailed(): void {
    this.end(this.#firstCallee, "internal_error");
  }
}
