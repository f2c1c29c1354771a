/** HMAC-SHA1 (RFC 2104) with one key. */
export interface Hmac {
  /** The HMAC of the first `length` bytes: 20 bytes in an array that the next call may use again. */
  digest(bytes: Uint8Array, length: number): Uint8Array;
}

/** Makes the HMAC of a key of at most 64 bytes. */
export type CreateHmac = (key: Uint8Array) => Hmac;
