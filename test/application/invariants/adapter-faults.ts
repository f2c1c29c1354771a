/** Methods of a telephony adapter that may hang; "leg" is a dial whose leg exists but is not answered. */
const METHODS = ["dial", "leg", "open", "link", "unlink", "close", "probe"] as const;

/** A method of a line or its network. */
export type Method = (typeof METHODS)[number];

/** Network methods that hang until healed, even across process restarts. */
export class AdapterFaults {
  readonly #hangingMethods = new Set<Method>();
  /** Every wait so far, as `method instanceId`; failures there are excused. */
  readonly excusedWaits: Set<string> = new Set();
  #onHealed: () => void = () => {};
  #healPromise: Promise<void> = Promise.resolve();

  get hasFault(): boolean {
    return this.#hangingMethods.size > 0;
  }

  hangMethod(choice: number): void {
    if (!this.hasFault)
      this.#healPromise = new Promise((resolve) => {
        this.#onHealed = resolve;
      });
    this.#hangingMethods.add(METHODS[choice % METHODS.length] as Method);
  }

  heal(): void {
    this.#hangingMethods.clear();
    this.#onHealed();
  }

  /** Waits while the method hangs. */
  async pass(method: Method, instanceId: string): Promise<void> {
    if (!this.#hangingMethods.has(method)) return;
    this.excusedWaits.add(`${method} ${instanceId}`);
    await this.#healPromise;
  }
}
