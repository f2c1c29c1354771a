import { BoundedMap, shown } from "../ports.ts";
import type { ChallengeRefusal } from "./challenge-refusal.ts";
import type { DigestAlgorithm } from "./digest-algorithm.ts";
import type { DigestChallenge } from "./digest-challenge.ts";

const MOST_REALMS = 32;
const MOST_SERVERS = 64;

/**
 * The realms (RFC 3261 section 22) that a password is for: those of the trunk's options, else those of the first
 * challenges of its servers. A callee can send challenges too, and could otherwise get a response with MD5 to a nonce of
 * its choice, to guess the password from.
 */
export class Realms {
  readonly #given: readonly string[] | undefined;
  /** The strongest algorithm of each realm so far (RFC 8760). */
  readonly #strongest = new BoundedMap<string, DigestAlgorithm>(MOST_REALMS);
  /** Servers that have accepted an INVITE: they have named their realms. */
  readonly #settled = new BoundedMap<string, true>(MOST_SERVERS);

  constructor(given?: readonly string[] | undefined) {
    this.#given = given;
  }

  /** Why a challenge is not answered. @param learns whether a new realm is trusted */
  refusal({ realm, algorithm }: DigestChallenge, learns: boolean): ChallengeRefusal | undefined {
    const strongest = this.#strongest.get(realm);
    if (strongest !== undefined && algorithm.rank > strongest.rank)
      return {
        code: "weaker_algorithm",
        detail: `the realm ${shown(realm)} has used ${strongest.name} before, and gets no answer with ${algorithm.name}`,
      };
    const own = this.#given ?? [...this.#strongest.keys()];
    if (own.includes(realm)) return undefined;
    if (this.#given === undefined && (learns || own.length === 0)) return undefined;
    const known = own.slice(0, 3).map(shown).join(", ");
    return {
      code: "other_realm",
      detail: `the password is for the realm ${known}, not for ${shown(realm)}; if that is the trunk's, name both in \`realms\``,
    };
  }

  /** Remembers a challenge that is answered. */
  met({ realm, algorithm }: DigestChallenge): void {
    const strongest = this.#strongest.get(realm);
    const weaker = strongest !== undefined && strongest.rank < algorithm.rank;
    this.#strongest.set(realm, weaker ? strongest : algorithm);
  }

  /** Takes a server that has accepted an INVITE. @param server its address and port */
  settle(server: string): void {
    this.#settled.set(server, true);
  }

  isSettled(server: string): boolean {
    return this.#settled.has(server);
  }
}
