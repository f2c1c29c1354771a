/** Methods of a telephony adapter that may hang; "leg" is a dial whose leg exists but is not answered. */
const METHODS = ["dial", "leg", "open", "link", "unlink", "close", "probe"] as const;

/** A method of a line or its network. */
export type Method = (typeof METHODS)[number];

/** Hanging network methods; they outlive every process. */
export class AdapterFaults {
  readonly #hanging = new Set<Method>();
  /** `method instance` of every wait so far: failures there are excused. */
  readonly met: Set<string> = new Set();
  #answer: () => void = () => {};
  #answered: Promise<void> = Promise.resolve();

  get any(): boolean {
    return this.#hanging.size > 0;
  }

  hang(which: number): void {
    if (!this.any)
      this.#answered = new Promise((resolve) => {
        this.#answer = resolve;
      });
    this.#hanging.add(METHODS[which % METHODS.length] as Method);
  }

  heal(): void {
    this.#hanging.clear();
    this.#answer();
  }

  /** Resolves when the method responds. */
  async pass(method: Method, instanceId: string): Promise<void> {
    if (!this.#hanging.has(method)) return;
    this.met.add(`${method} ${instanceId}`);
    await this.#answered;
  }
}
