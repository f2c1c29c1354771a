import type { ReceiptKey } from "../../ports/storage.ts";

/** An idempotency key held by one request: while it is looked up, then while the request runs. */
export interface HeldKey {
  readonly fingerprint: string;
  /** Runs the request after its look-up; others no longer wait for the key. */
  run(): void;
  /** Releases the key at the end of the request. Idempotent. */
  release(): void;
}

interface Holder {
  readonly heldKey: HeldKey;
  isRunning: boolean;
  readonly whenLookedUp: Promise<void>;
}

/**
 * The idempotency keys that requests of this process hold. The storage knows a key only once its request has created
 * something.
 */
export class RunningKeys {
  readonly #holders = new Map<string, Holder>();

  /**
   * Takes the key once no other request is looking it up; if another request runs under it, returns that request's key.
   */
  async take({ userId, scope, key }: ReceiptKey, fingerprint: string): Promise<{ isTaken: boolean; key: HeldKey }> {
    const name = JSON.stringify([userId, scope, key]);
    for (let other = this.#holders.get(name); other; other = this.#holders.get(name)) {
      if (other.isRunning) return { isTaken: false, key: other.heldKey };
      await other.whenLookedUp;
    }
    const { promise: whenLookedUp, resolve } = Promise.withResolvers<void>();
    const run = () => {
      holder.isRunning = true;
      resolve();
    };
    const release = () => {
      if (this.#holders.get(name) === holder) this.#holders.delete(name);
      resolve();
    };
    const holder: Holder = { heldKey: { fingerprint, run, release }, isRunning: false, whenLookedUp };
    this.#holders.set(name, holder);
    return { isTaken: true, key: holder.heldKey };
  }
}
