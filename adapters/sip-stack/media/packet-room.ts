/** A buffer for one packet and a view of the bytes to send; the view is replaced only if the length changes. */
export class PacketRoom {
  readonly bytes: Uint8Array;
  #first: Uint8Array;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
    this.#first = this.bytes;
  }

  /** The first `length` bytes. */
  first(length: number): Uint8Array {
    if (this.#first.length !== length) this.#first = this.bytes.subarray(0, length);
    return this.#first;
  }
}
