import { BoundedMap } from "../ports.ts";
import { addressAndPort, type Hop } from "../transport/transport.ts";

const MOST_REMEMBERED = 2_048;

/**
 * The hop that responded last, by Call-ID (RFC 3263 section 4.3). The next request of the series goes there first: the
 * server that sent a challenge knows its nonce, and the server that accepted a registration has it.
 */
export class ChosenHops {
  /** By address and port without the transport: a long request may have taken TCP. */
  readonly #chosen = new BoundedMap<string, string>(MOST_REMEMBERED);

  remember(callId: string, hop: Hop): void {
    this.#chosen.set(callId, addressAndPort(hop));
  }

  /** The same hops, the chosen one first. */
  first(callId: string, hops: readonly Hop[]): readonly Hop[] {
    const chosen = this.#chosen.get(callId);
    const hop = hops.find((one) => addressAndPort(one) === chosen);
    return hop === undefined ? hops : [hop, ...hops.filter((one) => one !== hop)];
  }
}
