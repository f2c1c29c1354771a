import { skipEmptyLines } from "../message/head-end.ts";

const MOST_REMEMBERED = 1_024;
const STATUS_LINE = new TextEncoder().encode("SIP/2.0 ");

/** The addresses that requests may come from: those that the trunk's names lead to, and those of our flows. */
export class ExpectedPeers {
  readonly #addresses = new Set<string>();

  add(given: string): void {
    const address = canonical(given);
    this.#addresses.delete(address);
    if (this.#addresses.size >= MOST_REMEMBERED) this.#addresses.delete(this.#addresses.keys().next().value as string);
    this.#addresses.add(address);
  }

  has(address: string): boolean {
    return this.#addresses.has(address) || (address.includes(":") && this.#addresses.has(canonical(address)));
  }
}

/** As the system writes it: IPv6 compressed, in lower case and without a zone (RFC 5952). */
function canonical(address: string): string {
  const [plain = ""] = address.split("%", 1);
  return plain.includes(":") && URL.canParse(`http://[${plain}]`) ? new URL(`http://[${plain}]`).hostname : plain;
}

/** Whether a datagram begins like a response, whose branch says whether it is for us (RFC 3261 section 7.2). */
export function isResponse(bytes: Uint8Array): boolean {
  const from = skipEmptyLines(bytes, 0);
  return STATUS_LINE.every((byte, at) => bytes[from + at] === byte);
}
