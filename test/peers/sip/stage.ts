import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** Programs started by the tests of a file: they are ended afterwards, in reverse order, and their files are removed. */
export class Stage {
  #folder: string | undefined;
  #folderCount = 0;
  readonly #ends: (() => unknown)[] = [];

  constructor() {
    afterAll(() => this.clear());
  }

  /** A new empty folder. */
  folder(name: string): string {
    this.#folder ??= mkdtempSync(join(tmpdir(), "ringport-sip-"));
    const path = join(this.#folder, `${name}-${++this.#folderCount}`);
    mkdirSync(path);
    return path;
  }

  /** Registers a cleanup. */
  add<T>(resource: T, end: (thing: T) => unknown): T {
    this.#ends.push(() => end(resource));
    return resource;
  }

  async clear(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end();
    if (this.#folder && !process.env.KEEP_PEERS) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = undefined;
  }
}
