/**
 * A queue that serves its keys round-robin: first in, first out within a key, one item per key at a time. A flood of
 * items under one key therefore delays the others by one item, not by the flood.
 */
export class RoundRobinQueue<T> {
  // A Map keeps the order of insertion, so the key to serve next is the first that is ready.
  readonly #queues = new Map<string, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Number of items that wait under one key. */
  sizeOf(key: string): number {
    return this.#queues.get(key)?.length ?? 0;
  }

  add(key: string, item: T): void {
    const queue = this.#queues.get(key);
    if (queue) queue.push(item);
    else this.#queues.set(key, [item]);
    this.#size++;
  }

  /** Takes the next item, skipping keys that are not ready; returns undefined if there is none. */
  take(isReady: (key: string) => boolean = () => true): T | undefined {
    for (const [key, queue] of this.#queues) {
      if (!isReady(key)) continue;
      const item = queue.shift();
      this.#queues.delete(key);
      if (queue.length > 0) this.#queues.set(key, queue);
      this.#size--;
      return item;
    }
    return undefined;
  }

  /** Removes an item; returns false if it is not waiting under this key. */
  remove(key: string, item: T): boolean {
    const queue = this.#queues.get(key);
    const at = queue?.indexOf(item) ?? -1;
    if (!queue || at < 0) return false;
    queue.splice(at, 1);
    if (queue.length === 0) this.#queues.delete(key);
    this.#size--;
    return true;
  }
}
