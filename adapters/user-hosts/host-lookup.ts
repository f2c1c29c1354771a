import type { NaptrRecord, SrvRecord } from "node:dns";
import { isIP } from "node:net";
import { BoundedMap } from "../../src/base/bounded-map.ts";
import { CodedError } from "../../src/base/error.ts";
import { realSystem, type System } from "../../src/ports/system.ts";
import { type DnsQueries, dnsQueries } from "./dns-queries.ts";
import { type HostAddress, hostAddress } from "./host-address.ts";
import { type LocalNames, localNames } from "./local-names.ts";
import { UserTurns } from "./user-turns.ts";

/** Time for which records, or the lack of them, are cached, ms. */
const ANSWER_MS = 30_000;
/** Time for which a failed query is cached, ms: a silent name server is not queried for every delivery. */
const FAULT_MS = 10_000;
/** Time limit of a query, ms. */
const QUERY_MS = 5_000;
const MAX_CACHED = 2_048;
/** RFC 1035 section 2.3.4, characters. */
const MAX_NAME = 253;
/** Concurrent queries in total and per user; more queries of a user wait for their turn, up to the last limit. */
const LIMITS = { maxRunning: 256, maxRunningPerUser: 8, maxWaitingPerUser: 128 };

/** A host could not be looked up. */
export class LookupFailed extends CodedError {
  override readonly name = "LookupFailed";
  /** The runtime's code: `ETIMEOUT`, `ESERVFAIL`. */
  readonly code: string;
  constructor(name: string, code: string, options?: ErrorOptions) {
    const detail = code === "ETIMEOUT" ? "its name servers do not respond" : code;
    super(`the host "${name}" cannot be looked up: ${detail}`, options);
    this.code = code;
  }
}

/** Options of {@link HostLookup}. */
export interface HostLookupOptions {
  readonly system?: System | undefined;
  /** Default: the name servers of the system, by c-ares. */
  readonly queries?: DnsQueries | undefined;
  /** Default: those in the hosts file, and localhost. */
  readonly local?: LocalNames | undefined;
}

interface Query<Value> {
  readonly answer: Promise<Value>;
  /** Callers that wait for it. */
  callers: number;
  /** Cancels the query when no caller waits for it any longer. */
  cancel(): void;
}

/** A cached result, which may be a fault. */
interface Cached {
  readonly answer: Promise<unknown>;
  readonly until: number;
}

/**
 * Looks up hosts that users, callees and their servers name. Never by `getaddrinfo`, whose few threads serve the whole
 * process: the database, the operator's trunks and speech engines look up their hosts there, and never wait for these.
 * Users who look up the same host share one query. Each user may run a few queries at a time, and never delays other
 * users.
 */
export class HostLookup {
  readonly #system: System;
  readonly #queries: DnsQueries;
  readonly #local: LocalNames;
  readonly #turns = new UserTurns(LIMITS);
  readonly #running = new Map<string, Query<unknown>>();
  readonly #cache = new BoundedMap<string, Cached>(MAX_CACHED);

  constructor({ system = realSystem, queries, local }: HostLookupOptions = {}) {
    this.#system = system;
    this.#queries = queries ?? dnsQueries({ system });
    this.#local = local ?? localNames(system);
  }

  /**
   * The addresses of a host, in the order to try; none if it does not exist.
   * @param user key of the user for whom the host is looked up
   * @throws {Error} the name servers do not respond, too many lookups of this user wait, or the signal was aborted
   */
  async addresses(
    host: string,
    user: string,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<readonly HostAddress[]> {
    if (isIP(host) !== 0) return [hostAddress(host)];
    const name = nameOf(host);
    if (name === undefined) return [];
    return (await this.#local(name)) ?? this.#ask(name, "addresses", this.#queries.addresses, user, signal);
  }

  /** The SRV records of a name; see {@link addresses}. */
  async srv(
    host: string,
    user: string,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<readonly SrvRecord[]> {
    const name = nameOf(host);
    return name === undefined ? [] : this.#ask(name, "SRV", this.#queries.srv, user, signal);
  }

  /** The NAPTR records of a domain; see {@link addresses}. */
  async naptr(
    host: string,
    user: string,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<readonly NaptrRecord[]> {
    const name = nameOf(host);
    return name === undefined ? [] : this.#ask(name, "NAPTR", this.#queries.naptr, user, signal);
  }

  async #ask<Value>(name: string, type: string, put: Put<Value>, user: string, signal: AbortSignal): Promise<Value> {
    const key = `${type} ${name}`;
    const ready = this.#ready<Value>(key, signal);
    if (ready !== undefined) return ready;
    const end = await this.#turns.take(user, signal);
    try {
      // Another user may have started the query in the meantime. A query that still waits for its turn helps no other
      // user.
      return await (this.#ready<Value>(key, signal) ?? this.#join(this.#start(name, key, put), signal));
    } finally {
      end();
    }
  }

  /** The cached result, or that of a running query. */
  #ready<Value>(key: string, signal: AbortSignal): Promise<Value> | undefined {
    const cached = this.#cache.get(key);
    if (cached !== undefined && this.#system.monotonic() < cached.until) return cached.answer as Promise<Value>;
    const running = this.#running.get(key);
    return running === undefined ? undefined : this.#join(running as Query<Value>, signal);
  }

  #start<Value>(name: string, key: string, put: Put<Value>): Query<Value> {
    const end = new AbortController();
    let code: string | undefined;
    const stop = this.#system.after(QUERY_MS, () => {
      code = "ETIMEOUT";
      end.abort();
    });
    const answer = put(name, end.signal).catch((cause: unknown) => {
      throw new LookupFailed(name, code ?? codeOf(cause), { cause });
    });
    const query: Query<Value> = {
      answer,
      callers: 0,
      cancel: () => {
        if (this.#running.get(key) === query) this.#running.delete(key);
        end.abort();
      },
    };
    this.#running.set(key, query);
    const settled = (keptMs: number): void => {
      stop();
      if (this.#running.get(key) !== query) return; // cancelled
      this.#running.delete(key);
      this.#cache.set(key, { answer, until: this.#system.monotonic() + keptMs });
    };
    answer.then(
      () => settled(ANSWER_MS),
      () => settled(FAULT_MS),
    );
    return query;
  }

  /** Waits for a query until the signal is aborted. */
  async #join<Value>(query: Query<Value>, signal: AbortSignal): Promise<Value> {
    query.callers++;
    let leave = (): void => {};
    const aborted = new Promise<never>((_, reject) => {
      leave = () => reject(signal.reason);
      signal.addEventListener("abort", leave, { once: true });
    });
    try {
      signal.throwIfAborted();
      return await Promise.race([query.answer, aborted]);
    } finally {
      signal.removeEventListener("abort", leave);
      if (--query.callers === 0) query.cancel();
    }
  }
}

type Put<Value> = (name: string, signal: AbortSignal) => Promise<Value>;

/** The name to query: in lower case, without a trailing dot. Undefined if it is not a valid host name. */
function nameOf(host: string): string | undefined {
  const name = host.toLowerCase().replace(/\.$/, "");
  return name === "" || name.length > MAX_NAME ? undefined : name;
}

function codeOf(cause: unknown): string {
  const { code } = cause as { readonly code?: unknown };
  if (code === "TIMEOUT" || code === "ETIMEDOUT") return "ETIMEOUT";
  return typeof code === "string" ? code : "EFAILED";
}
