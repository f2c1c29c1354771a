import { NewestMap } from "../newest-map.ts";
import { addressAndPort, type Hop } from "../transport/transport.ts";

const MOST_REMEMBERED = 2_048;

/**
 * The hop that answered last, by Call-ID: the next request of the same series goes there first, since the server that
 * asked for a password is the one that knows its nonce, and the one that took a registration has it.
 */
export class ChosenHops {
  /** By address and port, whatever the transport: a long request may have taken TCP. */
  readonly #chosen = new NewestMap<string, string>(MOST_REMEMBERED);

  remember(callId: string, hop: Hop): void {
    this.#chosen.set(callId, addressAndPort(hop));
  }

  /** The same hops, the chosen one first where it is among them. */
  first(callId: string, hops: readonly Hop[]): readonly Hop[] {
    const chosen = this.#chosen.get(callId);
    const hop = hops.find((one) => addressAndPort(one) === chosen);
    return hop === undefined ? hops : [hop, ...hops.filter((one) => one !== hop)];
  }
}
