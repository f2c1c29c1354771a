import { randomText } from "../message/random-text.ts";
import type { System } from "../ports.ts";
import { BoundedMap } from "../ports.ts";
import { DigestAuthentication } from "./digest-authentication.ts";
import type { DigestChallenge } from "./digest-challenge.ts";
import { type DigestSpace, type DigestUse, spaceKey } from "./digest-space.ts";
import { Realms } from "./realms.ts";

/** The account for digest authentication. */
export interface DigestAccount {
  readonly user: string;
  readonly password: string | undefined;
  /** The only realms that the password is for. Default: those of the first challenges. */
  readonly realms?: readonly string[] | undefined;
}

/** How many protection spaces are remembered: a peer that invents new realms evicts its own. */
const MAX_SPACES = 8;

/**
 * Digest authentication of a trunk's requests (RFC 3261 section 22, RFC 7616, RFC 8760): MD5, SHA-256, SHA-512-256 and
 * their `-sess`, with `qop=auth` or none. Remembers the latest challenge of each realm, so that later requests carry
 * credentials without being challenged.
 *
 * ```ts
 * const authentication = digest.authentication();
 * authentication.authorize(request); // before each sending, the first as well
 * const why = authentication.challenged(response); // a 401 or 407; undefined: authorize and send once more, with a new CSeq
 * ```
 */
export class DigestClient {
  readonly account: DigestAccount;
  readonly known: Realms;
  readonly #system: Pick<System, "random">;
  readonly #spaces = new BoundedMap<string, DigestSpace>(MAX_SPACES);

  constructor(account: DigestAccount, system: Pick<System, "random">) {
    this.account = account;
    this.known = new Realms(account.realms);
    this.#system = system;
  }

  /** The known realms and their algorithms, so that a weak one can be reported. */
  get realms(): readonly { readonly realm: string; readonly algorithm: string }[] {
    return [...this.#spaces.values()].map(({ challenge }) => ({
      realm: challenge.realm,
      algorithm: challenge.algorithm.name,
    }));
  }

  /** The authentication of one request and of its repetitions after challenges. */
  authentication(): DigestAuthentication {
    return new DigestAuthentication(this);
  }

  /** The known protection spaces of this use. */
  spaces(use: DigestUse): readonly DigestSpace[] {
    return [...this.#spaces.values()].filter((space) => space.use === use);
  }

  /** Remembers a challenge; the count of a known nonce continues. */
  learn(field: DigestSpace["field"], challenge: DigestChallenge, use: DigestUse): DigestSpace {
    this.known.met(challenge);
    const key = `${use} ${spaceKey(field, challenge.realm)}`;
    const known = this.#spaces.get(key);
    if (known?.challenge.nonce === challenge.nonce && known.challenge.algorithm === challenge.algorithm) return known;
    const space: DigestSpace = { field, use, challenge, cnonce: randomText(this.#system, 16), count: 0 };
    this.#spaces.set(key, space);
    return space;
  }
}
