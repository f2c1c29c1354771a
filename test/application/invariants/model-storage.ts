import { type OpenOptions, type Storage, StorageUnavailable } from "../../../src/ports/storage.ts";
import { FaultyStorage } from "../../support/faulty-storage.ts";
import { LeasedStorage } from "../../support/leased-storage.ts";

/** Kind of outage: connections to the database are refused, or hang until it is back. */
export type Cut = "refused" | "silent";

/** A process's connection to the database: opening, closing and renewals have the same faults as other operations. */
export class ModelStorage extends FaultyStorage {
  readonly #storage: Storage;
  #cut: Cut | undefined;
  #closePromise: Promise<void> = Promise.resolve();
  #onRepaired: () => void = () => {};
  #whenRepaired: Promise<void> = Promise.resolve();

  constructor(inner: Storage) {
    super(inner);
    this.#storage = inner;
  }

  /** Kind of the current outage; undefined if the database is reachable. */
  get cut(): Cut | undefined {
    return this.#cut;
  }

  /** Starts an outage. Work that waits for a hanging database fails as soon as the database refuses connections. */
  cutConnection(kind: Cut): void {
    if (kind === this.#cut) return;
    this.repair();
    if (kind === "silent")
      this.#whenRepaired = new Promise((resolve) => {
        this.#onRepaired = resolve;
      });
    this.#cut = kind;
  }

  repair(): void {
    this.#cut = undefined;
    this.#onRepaired();
  }

  /** Checks the connection. @throws {StorageUnavailable} during an outage; a silent one throws when it ends */
  async reach(): Promise<void> {
    if (!this.#cut) return;
    if (this.#cut === "silent") await this.#whenRepaired;
    throw new StorageUnavailable("the connection to the database broke");
  }

  /** Opens the storage, after any unfinished close. */
  override async open(options: OpenOptions): Promise<void> {
    await this.#closePromise;
    await this.#pass("open", () => this.#storage.open(options));
  }

  override close(): Promise<void> {
    this.#closePromise = this.#close();
    return this.#closePromise;
  }

  /** Closes the storage; a lease that cannot be released expires. */
  async #close(): Promise<void> {
    const inner = this.#storage;
    if (!(inner instanceof LeasedStorage)) return;
    const isReached = await this.#pass("close", async () => true).catch((error: unknown) => {
      if (error instanceof StorageUnavailable) return false;
      throw error;
    });
    inner.isUnreachable = !isReached;
    await inner.close();
    inner.isUnreachable = false;
  }

  async #pass<T>(operation: string, run: () => Promise<T>): Promise<T> {
    await this.before(operation, []);
    const result = await run();
    await this.after(operation);
    return result;
  }
}
