import type { Context } from "./context.ts";

const DAY_MS = 24 * 60 * 60_000;
const EVERY_MS = 60 * 60_000;
const BATCH = 500;

/** Deletes calls that ended longer ago than they are kept, with their events and recordings. */
export class Retention {
  readonly #context: Context;
  readonly #keptMs: number | undefined;
  #cancel: (() => void) | undefined;

  /** @param days undefined: everything is kept */
  constructor(context: Context, days: number | undefined) {
    this.#context = context;
    this.#keptMs = days === undefined ? undefined : days * DAY_MS;
  }

  start(): void {
    if (this.#keptMs !== undefined) this.#cancel = this.#context.system.after(0, () => void this.#sweep());
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  async #sweep(): Promise<void> {
    const { storage, system, telephony, log } = this.#context;
    try {
      for (;;) {
        const gone = await storage.calls.purge(system.now() - (this.#keptMs ?? 0), BATCH);
        for (const network of telephony.values()) await network.forget?.(gone);
        if (gone.length > 0) log.info({ calls: gone.length }, "old calls deleted");
        if (gone.length < BATCH || !this.#cancel) break;
      }
    } catch (error) {
      log.warn({ err: error }, "old calls could not be deleted; trying again later");
    }
    if (this.#cancel) this.#cancel = system.after(EVERY_MS, () => void this.#sweep());
  }
}
