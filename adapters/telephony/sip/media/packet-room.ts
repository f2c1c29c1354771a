/** Room for a packet of ours, and the part of it that goes out: a view that is made anew only when packets change their length. */
export class PacketRoom {
  readonly bytes: Uint8Array;
  #first: Uint8Array;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
    this.#first = this.bytes;
  }

  /** The first so many bytes. */
  first(length: number): Uint8Array {
    if (this.#first.length !== length) this.#first = this.bytes.subarray(0, length);
    return this.#first;
  }
}
