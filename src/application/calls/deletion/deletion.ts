import { StorageUnavailable } from "../../../ports/storage.ts";
import type { Context } from "../../context.ts";

/** A request that waits for the deletion. */
interface Request {
  readonly refuse: (error: Error) => void;
  cancel: (() => void) | undefined;
}

/** A deletion in progress and the one request that waits for it; other requests queue. */
export class Deletion {
  readonly done: Promise<void>;
  readonly #context: Pick<Context, "system" | "timings">;
  finished = false;
  #answered = false;
  /** A write is pending. */
  #storing = false;
  #request: Request | undefined;
  #asking: Promise<boolean> | undefined;

  constructor(context: Pick<Context, "system" | "timings">, run: (deletion: Deletion) => Promise<void>) {
    this.#context = context;
    this.done = run(this).then(() => {
      this.finished = true;
    });
  }

  /**
   * Waits for the end of the deletion: true for one request only, false for those after it.
   * @throws {StorageUnavailable} the storage took too long; a later request may try again
   */
  async ask(): Promise<boolean> {
    while (this.#asking) await this.#asking.catch(() => {});
    if (this.#answered) return false;
    this.#asking = this.#wait();
    try {
      return await this.#asking;
    } finally {
      this.#asking = undefined;
    }
  }

  /** Awaits a write; the waiting request is refused after `storeMs`. */
  async storing<T>(write: Promise<T>): Promise<T> {
    this.waitForStorage();
    try {
      return await write;
    } finally {
      this.storageResponded();
    }
  }

  /** Starts waiting for the storage. */
  waitForStorage(): void {
    this.#storing = true;
    const request = this.#request;
    if (!request || request.cancel) return;
    const { system, timings } = this.#context;
    const sentence = `the deletion could not be finished within ${timings.storeMs} ms; it goes on by itself`;
    request.cancel = system.after(timings.storeMs, () => request.refuse(new StorageUnavailable(sentence)));
  }

  /** The storage has responded. */
  storageResponded(): void {
    this.#storing = false;
    this.#request?.cancel?.();
    if (this.#request) this.#request.cancel = undefined;
  }

  async #wait(): Promise<boolean> {
    const late = new Promise<never>((_, refuse) => {
      this.#request = { refuse, cancel: undefined };
      if (this.#storing) this.waitForStorage();
    });
    try {
      await Promise.race([this.done, late]);
      this.#answered = true;
      return true;
    } finally {
      this.#request?.cancel?.();
      this.#request = undefined;
    }
  }
}
