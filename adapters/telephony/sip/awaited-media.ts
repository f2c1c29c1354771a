import type { System } from "../../../src/ports/system.ts";

/** Time to wait for audio from an allowed address if the address in the remote SDP was refused, ms. */
const WAIT_MS = 5_000;

/** Options of {@link AwaitedMedia}. */
export interface AwaitedMediaOptions {
  readonly system: Pick<System, "after">;
  /** True if remote audio has arrived. */
  readonly hasReceived: () => boolean;
  /** Called if no audio has arrived in time. */
  readonly onTimeout: (detail: string) => void;
}

/** Waits for remote audio after the answer if the remote SDP names a refused address. */
export class AwaitedMedia {
  readonly #options: AwaitedMediaOptions;
  #refusal: string | undefined;
  #isAnswered = false;
  #hasEnded = false;
  #cancel = (): void => {};

  constructor(options: AwaitedMediaOptions) {
    this.#options = options;
  }

  /**
   * Records a negotiation.
   * @param refusal reason why the address in the remote SDP is refused; undefined if it is allowed
   */
  negotiated(refusal: string | undefined): void {
    this.#refusal = refusal;
    this.#wait();
  }

  answered(): void {
    this.#isAnswered = true;
    this.#wait();
  }

  stop(): void {
    this.#hasEnded = true;
    this.#cancel();
  }

  #wait(): void {
    this.#cancel();
    const { system, hasReceived, onTimeout } = this.#options;
    const refusal = this.#refusal;
    if (refusal === undefined || !this.#isAnswered || this.#hasEnded) return;
    this.#cancel = system.after(WAIT_MS, () => {
      if (!hasReceived())
        onTimeout(`${refusal}, and no audio came from an allowed address within ${WAIT_MS / 1_000} s`);
    });
  }
}
