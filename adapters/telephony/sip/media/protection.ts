import type { SrtpKeys, StreamSettings } from "./engine.ts";
import { createSrtp, type Srtp } from "./srtp/srtp.ts";

/** What a call's packets are protected with: nothing, or SRTP with a key for each direction. All in place. */
export class Protection {
  #keys: StreamSettings["srtp"];
  #send: Srtp | undefined;
  #receive: Srtp | undefined;

  /**
   * From now on these keys. Those that stay go on with the counters they have: anew they would repeat their keystream.
   * @returns whether another key of ours has taken the place of one
   */
  settle(keys: StreamSettings["srtp"]): boolean {
    const before = this.#keys;
    this.#keys = keys;
    if (!same(keys?.receive, before?.receive)) this.#receive = keys && createSrtp(keys.receive);
    if (same(keys?.send, before?.send)) return false;
    this.#send = keys && createSrtp(keys.send);
    return before !== undefined;
  }

  /** Protects a packet of ours; answers its new length, -1 where it cannot go out. */
  protect(packet: Uint8Array, length: number): number {
    return this.#send === undefined ? length : this.#send.protect(packet, length);
  }

  protectRtcp(packet: Uint8Array, length: number): number {
    return this.#send === undefined ? length : this.#send.protectRtcp(packet, length);
  }

  /** Takes the protection off a packet of the peer; answers its new length, -1 where it is not genuine. */
  unprotect(packet: Uint8Array, length: number): number {
    return this.#receive === undefined ? length : this.#receive.unprotect(packet, length);
  }

  unprotectRtcp(packet: Uint8Array, length: number): number {
    return this.#receive === undefined ? length : this.#receive.unprotectRtcp(packet, length);
  }
}

function same(a: SrtpKeys | undefined, b: SrtpKeys | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.suite === b.suite &&
    String(a.key) === String(b.key) &&
    String(a.salt) === String(b.salt) &&
    String(a.mki) === String(b.mki)
  );
}
