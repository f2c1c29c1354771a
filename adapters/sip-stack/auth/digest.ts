import { randomText } from "../message/grammar.ts";
import { BoundedMap, type System, shown } from "../ports.ts";
import type { ChallengeRefusal, DigestAlgorithm, DigestChallenge } from "./challenge.ts";
import { DigestAuthentication, type DigestSpace, type DigestUse, spaceKey } from "./digest-authentication.ts";

/** The account for digest authentication. */
interface DigestAccount {
  readonly user: string;
  readonly password: string | undefined;
  /** The only realms that may get the password. Default: those of the first challenges. */
  readonly realms?: readonly string[] | undefined;
}

/** Number of protection spaces remembered: a peer that invents new realms only evicts its own. */
const MAX_SPACES = 8;

/**
 * Digest authentication of a trunk's requests (RFC 3261 section 22, RFC 7616, RFC 8760): MD5, SHA-256, SHA-512-256 and
 * their `-sess` variants, with or without `qop=auth`. Remembers the latest challenge of each realm, so that later
 * requests carry credentials without being challenged.
 *
 * ```ts
 * const authentication = digest.authentication();
 * authentication.authorize(request); // before each sending, including the first
 * const refusal = authentication.handleChallenge(response); // undefined: authorize and resend, with a new CSeq
 * ```
 */
export class DigestClient {
  readonly account: DigestAccount;
  readonly knownRealms: Realms;
  readonly #system: Pick<System, "random">;
  readonly #spaces = new BoundedMap<string, DigestSpace>(MAX_SPACES);

  constructor(account: DigestAccount, system: Pick<System, "random">) {
    this.account = account;
    this.knownRealms = new Realms(account.realms);
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

  /** The known protection spaces for this use. */
  spaces(use: DigestUse): readonly DigestSpace[] {
    return [...this.#spaces.values()].filter((space) => space.use === use);
  }

  /** Remembers a challenge; the count of a known nonce continues. */
  learn(field: DigestSpace["field"], challenge: DigestChallenge, use: DigestUse): DigestSpace {
    this.knownRealms.remember(challenge);
    const key = `${use} ${spaceKey(field, challenge.realm)}`;
    const existing = this.#spaces.get(key);
    if (existing?.challenge.nonce === challenge.nonce && existing.challenge.algorithm === challenge.algorithm)
      return existing;
    const space: DigestSpace = { field, use, challenge, cnonce: randomText(this.#system, 16), count: 0 };
    this.#spaces.set(key, space);
    return space;
  }
}

const MAX_REALMS = 32;
const MAX_SERVERS = 64;

/**
 * The realms (RFC 3261 section 22) that may get a password: those in the trunk's options, otherwise those of the first
 * challenges of its servers. A callee can send challenges too, and could otherwise obtain an MD5 response to a nonce of
 * its choice and guess the password from it.
 */
class Realms {
  readonly #configured: readonly string[] | undefined;
  /** The strongest algorithm that each realm has used so far (RFC 8760). */
  readonly #strongestAlgorithms = new BoundedMap<string, DigestAlgorithm>(MAX_REALMS);
  /** Servers that have accepted an INVITE, and so have named their realms. */
  readonly #acceptedServers = new BoundedMap<string, true>(MAX_SERVERS);

  constructor(configured?: readonly string[] | undefined) {
    this.#configured = configured;
  }

  /** Reason why a challenge is not answered. @param trustsNewRealms true if a new realm is trusted */
  refusal({ realm, algorithm }: DigestChallenge, trustsNewRealms: boolean): ChallengeRefusal | undefined {
    const strongest = this.#strongestAlgorithms.get(realm);
    if (strongest !== undefined && algorithm.rank > strongest.rank)
      return {
        code: "weaker_algorithm",
        detail: `the realm ${shown(realm)} has used ${strongest.name} before; a challenge with ${algorithm.name} is not answered`,
      };
    const trustedRealms = this.#configured ?? [...this.#strongestAlgorithms.keys()];
    if (trustedRealms.includes(realm)) return undefined;
    if (this.#configured === undefined && (trustsNewRealms || trustedRealms.length === 0)) return undefined;
    const realmList = trustedRealms.slice(0, 3).map(shown).join(", ");
    return {
      code: "other_realm",
      detail: `the password is for the realm ${realmList}, not for ${shown(realm)}; if that is the trunk's, name both in \`realms\``,
    };
  }

  /** Remembers the algorithm of a challenge that is answered. */
  remember({ realm, algorithm }: DigestChallenge): void {
    const strongest = this.#strongestAlgorithms.get(realm);
    const isWeaker = strongest !== undefined && strongest.rank < algorithm.rank;
    this.#strongestAlgorithms.set(realm, isWeaker ? strongest : algorithm);
  }

  /** Records a server that has accepted an INVITE. @param server its address and port */
  recordAcceptance(server: string): void {
    this.#acceptedServers.set(server, true);
  }

  hasAccepted(server: string): boolean {
    return this.#acceptedServers.has(server);
  }
}
