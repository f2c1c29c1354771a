import { skipEmptyLines } from "../message/head-end.ts";
import { BoundedMap } from "../ports.ts";
import { canonicalAddress } from "./canonical-address.ts";

const MOST_REMEMBERED = 1_024;
/** How much of a datagram is searched for the Call-ID, bytes. */
const LONGEST_LOOK = 8_192;
const CALL_ID = /^(?:call-id|i)[ \t]*:\s*(\S+)/im;
const LATIN1 = new TextDecoder("latin1");
const STATUS_LINE = new TextEncoder().encode("SIP/2.0 ");

/** The addresses that requests may come from: those that the trunk's names resolve to, and those of our flows. */
export class ExpectedPeers {
  readonly #addresses = new BoundedMap<string, true>(MOST_REMEMBERED);

  add(address: string): void {
    this.#addresses.set(withoutZone(address), true);
  }

  has(address: string): boolean {
    return this.#addresses.has(address) || (address.includes(":") && this.#addresses.has(withoutZone(address)));
  }
}

/** A zone names an interface of this machine, not the peer. */
function withoutZone(address: string): string {
  return canonicalAddress(address.split("%", 1)[0] ?? "");
}

/** Whether a datagram starts with a status line (RFC 3261 section 7.2); a response is matched by its branch. */
export function isResponse(bytes: Uint8Array): boolean {
  const from = skipEmptyLines(bytes, 0);
  return STATUS_LINE.every((byte, at) => bytes[from + at] === byte);
}

/** The Call-ID of a datagram, read without parsing the rest, so that a flood costs little. */
export function callIdOf(bytes: Uint8Array): string | undefined {
  return CALL_ID.exec(LATIN1.decode(bytes.subarray(0, LONGEST_LOOK)))?.[1];
}
