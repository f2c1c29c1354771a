import { NewestMap } from "../newest-map.ts";
import type { DigestAlgorithm } from "./digest-algorithm.ts";
import { type DigestChallenge, shown } from "./digest-challenge.ts";

const MOST_REALMS = 32;
const MOST_SERVERS = 64;

/**
 * The realms that a password is for: those of the trunk's options, else those that its servers have asked for first. A
 * callee can send challenges as well, and could otherwise have any nonce of its own answered, with MD5, to guess the
 * password from.
 */
export class Realms {
  readonly #given: readonly string[] | undefined;
  /** The strongest algorithm that each has asked with (RFC 8760). */
  readonly #strongest = new NewestMap<string, DigestAlgorithm>(MOST_REALMS);
  /** Servers that have let an INVITE pass: by now they have named their realms. */
  readonly #settled = new NewestMap<string, true>(MOST_SERVERS);

  constructor(given?: readonly string[] | undefined) {
    this.#given = given;
  }

  /** Why a challenge gets no answer, as a sentence. @param learns whether a new realm is believed */
  refusal({ realm, algorithm }: DigestChallenge, learns: boolean): string | undefined {
    const strongest = this.#strongest.get(realm);
    if (strongest !== undefined && algorithm.rank > strongest.rank)
      return `The realm ${shown(realm)} has asked with ${strongest.name} before, and gets no answer with ${algorithm.name}`;
    const own = this.#given ?? [...this.#strongest.keys()];
    if (own.includes(realm)) return undefined;
    if (this.#given === undefined && (learns || own.length === 0)) return undefined;
    const known = own.slice(0, 3).map(shown).join(", ");
    return `The password is for the realm ${known}, not for ${shown(realm)}; if that is the trunk's, name both in \`realms\``;
  }

  /** A challenge is answered. */
  met({ realm, algorithm }: DigestChallenge): void {
    const strongest = this.#strongest.get(realm);
    const weaker = strongest !== undefined && strongest.rank < algorithm.rank;
    this.#strongest.set(realm, weaker ? strongest : algorithm);
  }

  /** This server has let an INVITE pass. @param server its address and port */
  settle(server: string): void {
    this.#settled.set(server, true);
  }

  isSettled(server: string): boolean {
    return this.#settled.has(server);
  }
}
