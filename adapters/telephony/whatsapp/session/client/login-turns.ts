import type { System } from "../../../../../src/ports/system.ts";

/** The time between two logins, ms: the minimum, and the maximum random addition. */
export const MIN_GAP_MS = 100;
const MAX_JITTER_MS = 60;

interface WaitingLogin {
  readonly place: number;
  readonly isWanted: () => boolean;
  readonly grant: () => void;
}

/**
 * Spreads the logins of all of a server's numbers: after a restart or an outage they would log in within the same
 * second, from one address, unlike real phones. The number with the lowest place is first.
 */
export class LoginTurns {
  readonly #system: System;
  readonly #queue: WaitingLogin[] = [];
  #cancelNext: (() => void) | undefined;
  #placeCount = 0;

  constructor(system: System) {
    this.#system = system;
  }

  /** The turn of another number, after all earlier ones. */
  newPlace(): number {
    return ++this.#placeCount;
  }

  /**
   * Resolves when a number may log in. @param isWanted returns false once that is unnecessary; the turn then passes to
   * the next number
   */
  next(place: number, isWanted: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const index = this.#queue.findIndex((login) => login.place > place);
      this.#queue.splice(index < 0 ? this.#queue.length : index, 0, { place, isWanted, grant: resolve });
      if (this.#cancelNext === undefined) this.#grant();
    });
  }

  /** Stops the turns; waiting numbers get none. */
  stop(): void {
    this.#cancelNext?.();
    this.#cancelNext = undefined;
    this.#queue.length = 0;
  }

  #grant(): void {
    this.#cancelNext = undefined;
    let login = this.#queue.shift();
    while (login !== undefined && !login.isWanted()) login = this.#queue.shift();
    if (login === undefined) return;
    login.grant();
    const [jitter = 0] = randomByte(this.#system);
    const ms = MIN_GAP_MS + (MAX_JITTER_MS * jitter) / 255;
    this.#cancelNext = this.#system.after(ms, () => this.#grant());
  }
}

function randomByte(system: System): Uint8Array {
  const bytes = new Uint8Array(1);
  system.random(bytes);
  return bytes;
}
