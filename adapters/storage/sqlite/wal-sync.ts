import { closeSync, fdatasync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { StorageUnavailable } from "../../../src/ports/storage.ts";

/**
 * Writes the WAL to the disk away from the event loop, which SQLite's own `synchronous = full` would block at every
 * commit. Commits that arrive during one sync share the next. As there, a commit that has been awaited survives a power
 * failure: SQLite ignores what follows the last whole commit of a WAL (sqlite.org/walformat.html, section 4.4).
 */
export class WalSync {
  readonly #database: DatabaseSync;
  readonly #path: string;
  #descriptor: number | undefined;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #failure: StorageUnavailable | undefined;

  /** @param path the database file */
  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
  }

  /**
   * Resolves when all commits until now survive a power failure.
   * @throws {StorageUnavailable} the disk failed, now or earlier: the pages that it has lost since are unknown
   */
  commitsDurable(): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    if (!this.#running) return this.#sync();
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.#sync();
    });
    return this.#next;
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #sync(): Promise<void> {
    const descriptor = this.#open();
    if (descriptor === undefined) return Promise.resolve();
    this.#running = new Promise<void>((resolve, reject) => {
      fdatasync(descriptor, (error) => {
        this.#running = undefined;
        if (!error) return resolve();
        this.#failure = new StorageUnavailable(
          `the disk of the database failed (${error.message}); restart the server when it works again`,
        );
        reject(this.#failure);
      });
    });
    return this.#running;
  }

  /** Opens the WAL; until then SQLite itself has synced each commit. Undefined if it cannot be opened yet. */
  #open(): number | undefined {
    if (this.#descriptor !== undefined) return this.#descriptor;
    try {
      this.#descriptor = openSync(`${this.#path}-wal`, "r+");
    } catch {
      return undefined; // such as too many open files
    }
    this.#database.exec("pragma synchronous = normal");
    return this.#descriptor;
  }
}
