import type { System } from "../../../../src/ports/system.ts";
import { randomText } from "../message/random-text.ts";
import { NewestMap } from "../newest-map.ts";
import { DigestAuthentication } from "./digest-authentication.ts";
import type { DigestChallenge } from "./digest-challenge.ts";
import { type DigestSpace, type DigestUse, spaceKey } from "./digest-space.ts";
import { Realms } from "./realms.ts";

/** Who we are for the servers that ask. */
export interface DigestAccount {
  readonly user: string;
  readonly password: string | undefined;
  /** The only realms that the password is for. Default: those that are asked for first. */
  readonly realms?: readonly string[] | undefined;
}

/** So many realms are remembered: a peer that invents ever new ones pushes out its own. */
const MAX_SPACES = 8;

/**
 * Digest authentication of a trunk's requests (RFC 3261 section 22, RFC 7616, RFC 8760): MD5, SHA-256, SHA-512-256 and
 * their `-sess`, with `qop=auth` or none. Remembers the latest challenge of each realm, so that later requests carry
 * their answer before they are asked.
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
  readonly #spaces = new NewestMap<string, DigestSpace>(MAX_SPACES);

  constructor(account: DigestAccount, system: Pick<System, "random">) {
    this.account = account;
    this.known = new Realms(account.realms);
    this.#system = system;
  }

  /** Who asked so far, and by which algorithm, so that a weak one can be shown. */
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

  /** The latest spaces of this use. */
  spaces(use: DigestUse): readonly DigestSpace[] {
    return [...this.#spaces.values()].filter((space) => space.use === use);
  }

  /** Takes in a challenge; a nonce that is known goes on being counted. */
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
