import type { System } from "../../ports/system.ts";
import type { LinkCode } from "../../ports/telephony.ts";

/** The current code of a line, and the callers that wait for one. */
export class CurrentLinkCode {
  readonly #system: System;
  readonly #waiters = new Set<(code: LinkCode | undefined) => void>();
  #code: LinkCode | undefined;

  constructor(system: System) {
    this.#system = system;
  }

  /** The current code, or the next code within `ms`; undefined if none arrives or the wait is ended. */
  async current(ms: number): Promise<LinkCode | undefined> {
    if (this.#code && this.#code.expiresAt > this.#system.now()) return this.#code;
    return new Promise((resolve) => {
      const finish = (code: LinkCode | undefined) => {
        this.#waiters.delete(finish);
        cancel();
        resolve(code);
      };
      const cancel = this.#system.after(ms, () => finish(undefined));
      this.#waiters.add(finish);
    });
  }

  /** Replaces the current code with the code that the line now shows. */
  show(code: LinkCode): void {
    this.#code = code;
    for (const waiter of this.#waiters) waiter(code);
  }

  /** Forgets the code: a number is linked. */
  clear(): void {
    this.#code = undefined;
    this.endWaits();
  }

  /** Ends every wait without a code. */
  endWaits(): void {
    for (const waiter of this.#waiters) waiter(undefined);
  }
}
