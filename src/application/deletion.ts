import { StorageUnavailable } from "../ports/storage.ts";
import type { System } from "../ports/system.ts";

/** A request waits this long for the storage, ms; what is left then goes on by itself. */
const STORED_WITHIN_MS = 5_000;

/** A request that waits for the deletion. */
interface Request {
  readonly system: System;
  readonly refuse: (error: Error) => void;
  cancel: (() => void) | undefined;
}

/** One deletion that is under way, and the one request that waits for it; others stand in line. */
export class Deletion {
  readonly done: Promise<void>;
  finished = false;
  #answered = false;
  /** Waits for the storage now. */
  #storing = false;
  #request: Request | undefined;
  #asking: Promise<boolean> | undefined;

  constructor(run: (deletion: Deletion) => Promise<void>) {
    this.done = run(this).then(() => {
      this.finished = true;
    });
  }

  /**
   * Waits for the end of the deletion: true for one request only, false for those after it.
   * @throws {StorageUnavailable} the storage took too long; the next request may ask again
   */
  async ask(system: System): Promise<boolean> {
    while (this.#asking) await this.#asking.catch(() => {});
    if (this.#answered) return false;
    this.#asking = this.#wait(system);
    try {
      return await this.#asking;
    } finally {
      this.#asking = undefined;
    }
  }

  /** Passes on a write of the deletion; nobody is kept waiting for it too long. */
  async storing<T>(write: Promise<T>): Promise<T> {
    this.stalled();
    try {
      return await write;
    } finally {
      this.moving();
    }
  }

  /** From now on the storage is waited for. */
  stalled(): void {
    this.#storing = true;
    const request = this.#request;
    if (!request || request.cancel) return;
    const sentence = `the deletion could not be finished within ${STORED_WITHIN_MS} ms; it goes on by itself`;
    request.cancel = request.system.after(STORED_WITHIN_MS, () => request.refuse(new StorageUnavailable(sentence)));
  }

  /** The storage has answered. */
  moving(): void {
    this.#storing = false;
    this.#request?.cancel?.();
    if (this.#request) this.#request.cancel = undefined;
  }

  async #wait(system: System): Promise<boolean> {
    const late = new Promise<never>((_, refuse) => {
      this.#request = { system, refuse, cancel: undefined };
      if (this.#storing) this.stalled();
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
