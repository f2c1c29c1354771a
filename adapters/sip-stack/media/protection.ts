import type { SrtpKeys, StreamSettings } from "./engine.ts";
import { createSrtp, type Srtp } from "./srtp/srtp.ts";

/** The encryption of a call's packets: none, or SRTP with a key for each direction; in place. */
export class Protection {
  #keys: StreamSettings["srtp"];
  #send: Srtp | undefined;
  #receive: Srtp | undefined;

  /**
   * Sets the keys. Unchanged keys keep their counters: restarting would repeat their keystream.
   * @returns true if our key was replaced by another one
   */
  setKeys(keys: StreamSettings["srtp"]): boolean {
    const previous = this.#keys;
    this.#keys = keys;
    if (!isSameKey(keys?.receive, previous?.receive)) this.#receive = keys && createSrtp(keys.receive);
    if (isSameKey(keys?.send, previous?.send)) return false;
    this.#send = keys && createSrtp(keys.send);
    return previous !== undefined;
  }

  /** Encrypts an outbound packet in place; returns its new length, -1 if it cannot be sent. */
  protect(packet: Uint8Array, length: number): number {
    return this.#send === undefined ? length : this.#send.protect(packet, length);
  }

  protectRtcp(packet: Uint8Array, length: number): number {
    return this.#send === undefined ? length : this.#send.protectRtcp(packet, length);
  }

  /** Decrypts an inbound packet in place; returns its new length, -1 if it is not authentic. */
  unprotect(packet: Uint8Array, length: number): number {
    return this.#receive === undefined ? length : this.#receive.unprotect(packet, length);
  }

  unprotectRtcp(packet: Uint8Array, length: number): number {
    return this.#receive === undefined ? length : this.#receive.unprotectRtcp(packet, length);
  }
}

function isSameKey(a: SrtpKeys | undefined, b: SrtpKeys | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.suite === b.suite &&
    String(a.key) === String(b.key) &&
    String(a.salt) === String(b.salt) &&
    String(a.mki) === String(b.mki)
  );
}
