/** A request under an idempotency key, from before it is looked up until its key is settled. */
export interface RunningKey {
  /** No other request of this process has run under the same key meanwhile. */
  readonly alone: boolean;
  /** The request is over. Twice is fine. */
  leave(): void;
}

/**
 * The idempotency keys under which requests of this process run. A stored key that counts as running, although no other
 * request runs under it, is left over from one whose answer was lost on the way to the storage.
 */
export class RunningKeys {
  readonly #requests = new Map<string, Set<{ alone: boolean }>>();

  enter(userId: string, key: string): RunningKey {
    const name = `${userId} ${key}`;
    const others = this.#requests.get(name);
    const request = { alone: others === undefined };
    for (const other of others ?? []) other.alone = false;
    const all = others ?? new Set();
    this.#requests.set(name, all.add(request));
    return {
      get alone() {
        return request.alone;
      },
      leave: () => {
        all.delete(request);
        if (all.size === 0 && this.#requests.get(name) === all) this.#requests.delete(name);
      },
    };
  }
}
