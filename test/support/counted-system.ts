import { realSystem, type System } from "../../src/ports/system.ts";

/** The real clock, counting pending timers. */
export class CountedSystem implements System {
  pendingTimers = 0;
  now = realSystem.now;
  random = realSystem.random;
  readonly #speed: number;

  /** @param speed ms of its monotonic clock and its timers per real one. Default: 1. */
  constructor(speed = 1) {
    this.#speed = speed;
  }

  monotonic = (): number => realSystem.monotonic() * this.#speed;

  after(ms: number, run: () => void): () => void {
    this.pendingTimers++;
    let isPending = true;
    const finish = (): void => {
      if (isPending) this.pendingTimers--;
      isPending = false;
    };
    const cancel = realSystem.after(ms / this.#speed, () => {
      finish();
      run();
    });
    return () => {
      finish();
      cancel();
    };
  }
}
