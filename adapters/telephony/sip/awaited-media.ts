import type { System } from "../../../src/ports/system.ts";

/** How long a far side whose address was refused has to send something from another one, ms. */
const WAIT_MS = 5_000;

/** Options of {@link AwaitedMedia}. */
export interface AwaitedMediaOptions {
  readonly system: Pick<System, "after">;
  /** Whether audio of the far side has come. */
  readonly received: () => boolean;
  /** It has not come in time; a sentence. */
  readonly lost: (detail: string) => void;
}

/** Waits from the answer on for audio of a far side whose SDP names a refused address. */
export class AwaitedMedia {
  readonly #options: AwaitedMediaOptions;
  #refusal: string | undefined;
  #answered = false;
  #over = false;
  #cancel = (): void => {};

  constructor(options: AwaitedMediaOptions) {
    this.#options = options;
  }

  /** @param refusal why the far side's address is refused, a sentence; undefined if it is not */
  settled(refusal: string | undefined): void {
    this.#refusal = refusal;
    this.#wait();
  }

  answered(): void {
    this.#answered = true;
    this.#wait();
  }

  stop(): void {
    this.#over = true;
    this.#cancel();
  }

  #wait(): void {
    this.#cancel();
    const { system, received, lost } = this.#options;
    const refusal = this.#refusal;
    if (refusal === undefined || !this.#answered || this.#over) return;
    this.#cancel = system.after(WAIT_MS, () => {
      if (!received()) lost(`${refusal}; and no audio came from an allowed address within ${WAIT_MS / 1_000} s`);
    });
  }
}
