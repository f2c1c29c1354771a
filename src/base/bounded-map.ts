/** A map of limited size: setting one entry too many removes the oldest entry. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #maxSize: number;

  constructor(maxSize: number) {
    super();
    this.#maxSize = maxSize;
  }

  /** Sets an entry and makes it the newest. */
  override set(key: Key, value: Value): this {
    this.delete(key);
    if (this.size >= this.#maxSize) this.delete(this.keys().next().value as Key);
    return super.set(key, value);
  }
}
