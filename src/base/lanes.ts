/**
 * Waiting items in lanes served round-robin: first in, first out within a lane, one item per lane at a time. A flood in one
 * lane therefore delays the others by one item, not by the flood.
 */
export class Lanes<T> {
  // A Map keeps the order of insertion, so the lane to serve next is the first that may continue.
  readonly #lanes = new Map<string, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Number of items that wait in one lane. */
  sizeOf(lane: string): number {
    return this.#lanes.get(lane)?.length ?? 0;
  }

  add(lane: string, item: T): void {
    const waiting = this.#lanes.get(lane);
    if (waiting) waiting.push(item);
    else this.#lanes.set(lane, [item]);
    this.#size++;
  }

  /** Takes the next item, skipping lanes that may not continue; undefined if none waits. */
  take(mayGoOn: (lane: string) => boolean = () => true): T | undefined {
    for (const [lane, waiting] of this.#lanes) {
      if (!mayGoOn(lane)) continue;
      const item = waiting.shift();
      this.#lanes.delete(lane);
      if (waiting.length > 0) this.#lanes.set(lane, waiting);
      this.#size--;
      return item;
    }
    return undefined;
  }

  /** Takes one item out of its lane; false if it does not wait there. */
  remove(lane: string, item: T): boolean {
    const waiting = this.#lanes.get(lane);
    const at = waiting?.indexOf(item) ?? -1;
    if (!waiting || at < 0) return false;
    waiting.splice(at, 1);
    if (waiting.length === 0) this.#lanes.delete(lane);
    this.#size--;
    return true;
  }
}
