import type { BrowserCallee } from "./browser-callee.ts";
import type { BrowserPhone } from "./browser-phone.ts";

/** The phones that ring for one of a user's numbers. The number has one call at a time, on any of them. */
export class RingGroup {
  readonly phones: Set<BrowserPhone> = new Set();
  readonly #onUnused: () => void;
  #call: BrowserCallee | undefined;

  /** @param onUnused called when the last phone has left and no call is ringing */
  constructor(onUnused: () => void) {
    this.#onUnused = onUnused;
  }

  /** The call that is ringing or on a phone. */
  get call(): BrowserCallee | undefined {
    return this.#call;
  }

  /** Adds a phone; if the number is ringing, the phone rings too. */
  add(phone: BrowserPhone): void {
    this.phones.add(phone);
    this.#call?.ring(phone);
  }

  /** Removes a phone that has disconnected. @param detail reason for the end of its call */
  remove(phone: BrowserPhone, detail: string): void {
    this.phones.delete(phone);
    this.#call?.phoneLeft(phone, detail);
    this.#removeEnded();
  }

  /** Assigns a call to the number; returns false if it is busy. */
  seize(call: BrowserCallee): boolean {
    if (this.#call !== undefined) return false;
    this.#call = call;
    return true;
  }

  /** Releases the number after its call has ended. */
  release(call: BrowserCallee): void {
    if (this.#call !== call) return;
    this.#call = undefined;
    this.#removeEnded();
  }

  #removeEnded(): void {
    if (this.phones.size === 0 && this.#call === undefined) this.#onUnused();
  }
}
