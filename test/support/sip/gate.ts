import { createHash, randomBytes } from "node:crypto";
import type { Field } from "./sip-text.ts";

/** Credentials that a remote end requires (RFC 3261 section 22, RFC 8760). */
export interface Challenge {
  readonly user: string;
  readonly password: string;
  /** Realm. Default: `far.end`. */
  readonly realm?: string;
  /** Algorithms: one challenge for each, in this order. Default: MD5. */
  readonly algorithms?: readonly ("MD5" | "SHA-256" | "SHA-512-256")[];
  /** Status. Default: 401. */
  readonly status?: 401 | 407;
  /** True for no qop, as in RFC 2069. Default: `auth`. */
  readonly qop?: "auth" | "none";
  /** Number of times that valid credentials get a stale nonce. Default: 0. */
  readonly staleCount?: number;
}

const HASHES = { MD5: "md5", "SHA-256": "sha256", "SHA-512-256": "sha512-256" } as const;

/** Admits requests with the password, each nonce count once. */
export class Gate {
  readonly challenge: Challenge;
  /** nonce → the highest count used with it. */
  readonly #nonceCounts = new Map<string, number>();
  #staleCount: number;

  constructor(challenge: Challenge) {
    this.challenge = challenge;
    this.#staleCount = challenge.staleCount ?? 0;
  }

  /** Challenge for the request; undefined if it may pass. */
  refuse(method: string, uri: string, credentials: string): readonly Field[] | undefined {
    const { user, password, realm = "far.end", algorithms = ["MD5"], qop = "auth" } = this.challenge;
    const parameter = (name: string): string =>
      new RegExp(`(?:^|[\\s,])${name}\\s*=\\s*(?:"([^"]*)"|([^\\s,]+))`, "i").exec(credentials)?.slice(1).join("") ??
      "";
    const algorithm = algorithms.find((candidate) => candidate === (parameter("algorithm") || "MD5"));
    if (credentials !== "" && algorithm !== undefined && parameter("uri") === uri) {
      const hash = (text: string): string => createHash(HASHES[algorithm]).update(text).digest("hex");
      const [userHash, requestHash] = [hash(`${user}:${realm}:${password}`), hash(`${method}:${uri}`)];
      const middle = qop === "auth" ? [parameter("nc"), parameter("cnonce"), parameter("qop")] : [];
      const expectedResponse = hash([userHash, parameter("nonce"), ...middle, requestHash].join(":"));
      const highestCount = this.#nonceCounts.get(parameter("nonce"));
      const count = qop === "auth" ? Number.parseInt(parameter("nc"), 16) : (highestCount ?? 0) + 1;
      if (
        parameter("response") === expectedResponse &&
        parameter("username") === user &&
        parameter("realm") === realm
      ) {
        if (highestCount !== undefined && count > highestCount && this.#staleCount === 0) {
          this.#nonceCounts.set(parameter("nonce"), count);
          return undefined;
        }
        if (this.#staleCount > 0) this.#staleCount--;
        return this.#fields(algorithms, true);
      }
    }
    return this.#fields(algorithms, false);
  }

  #fields(algorithms: readonly string[], isStale: boolean): Field[] {
    const nonce = randomBytes(12).toString("hex");
    this.#nonceCounts.set(nonce, 0);
    const { realm = "far.end", status = 401, qop = "auth" } = this.challenge;
    const name = status === 401 ? "WWW-Authenticate" : "Proxy-Authenticate";
    const suffix = `${qop === "auth" ? ', qop="auth"' : ""}, opaque="kept"${isStale ? ", stale=TRUE" : ""}`;
    return algorithms.map((algorithm) => [
      name,
      `Digest realm="${realm}", nonce="${nonce}", algorithm=${algorithm}${suffix}`,
    ]);
  }
}
