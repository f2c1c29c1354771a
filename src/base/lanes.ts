/**
 * Waiting items in lanes served round-robin: first in, first out within a lane, one item per lane at a time. A flood in one
 * lane therefore delays the others by one item, not by the flood.
 */
export class Lanes<T> {
  // A Map keeps the order of insertion, so the lane to serve next is the first that may continue.
  readonly #queues = new Map<string, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Number of items that wait in one lane. */
  sizeOf(key: string): number {
    return this.#queues.get(key)?.length ?? 0;
  }

  add(key: string, item: T): void {
    const queue = this.#queues.get(key);
    if (queue) queue.push(item);
    else this.#queues.set(key, [item]);
    this.#size++;
  }

  /** Takes the next item, skipping lanes that may not continue; undefined if none waits. */
  take(isReady: (lane: string) => boolean = () => true): T | undefined {
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

  /** Takes one item out of its lane; false if it does not wait there. */
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
