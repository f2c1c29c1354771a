import { StorageUnavailable } from "../../../ports/storage.ts";
import type { Context } from "../../context.ts";

/** A request that waits for the deletion. */
interface Request {
  readonly refuse: (error: Error) => void;
  cancel: (() => void) | undefined;
}

/** A deletion in progress and the one request that waits for it; other requests queue. */
export class Deletion {
  readonly whenDone: Promise<void>;
  readonly #context: Pick<Context, "system" | "timings">;
  isFinished = false;
  #isClaimed = false;
  /** True while a write is pending. */
  #isStoring = false;
  #request: Request | undefined;
  #currentRequest: Promise<boolean> | undefined;

  constructor(context: Pick<Context, "system" | "timings">, run: (deletion: Deletion) => Promise<void>) {
    this.#context = context;
    this.whenDone = run(this).then(() => {
      this.isFinished = true;
    });
  }

  /**
   * Waits for the end of the deletion: true for only one request, false for those after it.
   * @throws {StorageUnavailable} the storage took too long; a later request may try again
   */
  async ask(): Promise<boolean> {
    while (this.#currentRequest) await this.#currentRequest.catch(() => {});
    if (this.#isClaimed) return false;
    this.#currentRequest = this.#wait();
    try {
      return await this.#currentRequest;
    } finally {
      this.#currentRequest = undefined;
    }
  }

  /** Awaits a write; the waiting request is refused after `storeMs`. */
  async awaitWrite<T>(write: Promise<T>): Promise<T> {
    this.waitForStorage();
    try {
      return await write;
    } finally {
      this.storageResponded();
    }
  }

  /** Starts waiting for the storage. */
  waitForStorage(): void {
    this.#isStoring = true;
    const request = this.#request;
    if (!request || request.cancel) return;
    const { system, timings } = this.#context;
    const message = `the deletion could not be finished within ${timings.storeMs} ms; it continues automatically`;
    request.cancel = system.after(timings.storeMs, () => request.refuse(new StorageUnavailable(message)));
  }

  /** Records that the storage has responded. */
  storageResponded(): void {
    this.#isStoring = false;
    this.#request?.cancel?.();
    if (this.#request) this.#request.cancel = undefined;
  }

  async #wait(): Promise<boolean> {
    const rejection = new Promise<never>((_, reject) => {
      this.#request = { refuse: reject, cancel: undefined };
      if (this.#isStoring) this.waitForStorage();
    });
    try {
      await Promise.race([this.whenDone, rejection]);
      this.#isClaimed = true;
      return true;
    } finally {
      this.#request?.cancel?.();
      this.#request = undefined;
    }
  }
}
