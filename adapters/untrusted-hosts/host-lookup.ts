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
const CACHE_MS = 30_000;
/** Time for which a failed query is cached, ms: a silent name server is not queried for every delivery. */
const FAILURE_CACHE_MS = 10_000;
/** Time limit for a query, ms. */
const QUERY_TIMEOUT_MS = 5_000;
const MAX_CACHE_ENTRIES = 2_048;
/** Maximum length of a host name, characters (RFC 1035 section 2.3.4). */
const MAX_NAME_LENGTH = 253;
/** Concurrent queries in total and per user; a user's further queries wait for their turn, up to the last limit. */
const QUERY_LIMITS = { maxRunning: 256, maxRunningPerUser: 8, maxWaitingPerUser: 128 };

/** Thrown if a host cannot be looked up. */
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
  /** DNS queries. Default: c-ares queries to the system's name servers. */
  readonly queries?: DnsQueries | undefined;
  /** Local names. Default: those in the hosts file, and localhost. */
  readonly local?: LocalNames | undefined;
}

interface Query<Value> {
  readonly result: Promise<Value>;
  /** Number of lookups that wait for the result. */
  waiters: number;
  /** Cancels the query when no lookup waits for it any longer. */
  cancel(): void;
}

/** A cached result, which may be a fault. */
interface CachedResult {
  readonly result: Promise<unknown>;
  readonly until: number;
}

/**
 * Looks up hosts that users, callees and their servers name. Does not use `getaddrinfo`, whose few threads serve the
 * whole process, so that lookups for the database, the operator's trunks and speech engines never wait for these. Users
 * who look up the same host share one query. Each user may run a few queries at a time, and never delays other users.
 */
export class HostLookup {
  readonly #system: System;
  readonly #queries: DnsQueries;
  readonly #local: LocalNames;
  readonly #turns = new UserTurns(QUERY_LIMITS);
  readonly #runningQueries = new Map<string, Query<unknown>>();
  readonly #cache = new BoundedMap<string, CachedResult>(MAX_CACHE_ENTRIES);

  constructor({ system = realSystem, queries, local }: HostLookupOptions = {}) {
    this.#system = system;
    this.#queries = queries ?? dnsQueries({ system });
    this.#local = local ?? localNames(system);
  }

  /**
   * The addresses of a host, in the order to try; none if it does not exist.
   * @param user key of the user for whom the host is looked up
   * @throws {Error} the name servers do not respond, too many of this user's lookups are waiting, or the signal was
   * aborted
   */
  async addresses(
    host: string,
    user: string,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<readonly HostAddress[]> {
    if (isIP(host) !== 0) return [hostAddress(host)];
    const name = nameOf(host);
    if (name === undefined) return [];
    return (await this.#local(name)) ?? this.#query(name, "addresses", this.#queries.addresses, user, signal);
  }

  /** The SRV records of a name; see {@link addresses}. */
  srv(host: string, user: string, signal?: AbortSignal): Promise<readonly SrvRecord[]> {
    return this.#records("SRV", this.#queries.srv, host, user, signal);
  }

  /** The NAPTR records of a domain; see {@link addresses}. */
  naptr(host: string, user: string, signal?: AbortSignal): Promise<readonly NaptrRecord[]> {
    return this.#records("NAPTR", this.#queries.naptr, host, user, signal);
  }

  /** Records of a type; none if the host is not a name. */
  async #records<Rec>(
    type: string,
    runQuery: RunQuery<readonly Rec[]>,
    host: string,
    user: string,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<readonly Rec[]> {
    const name = nameOf(host);
    return name === undefined ? [] : this.#query(name, type, runQuery, user, signal);
  }

  async #query<Value>(
    name: string,
    type: string,
    runQuery: RunQuery<Value>,
    user: string,
    signal: AbortSignal,
  ): Promise<Value> {
    const key = `${type} ${name}`;
    const pendingResult = this.#cachedOrRunning<Value>(key, signal);
    if (pendingResult !== undefined) return pendingResult;
    const endTurn = await this.#turns.take(user, signal);
    try {
      // Another user may have started the query in the meantime. A query that still waits for its turn is
      // not shared.
      return await (this.#cachedOrRunning<Value>(key, signal) ?? this.#join(this.#start(name, key, runQuery), signal));
    } finally {
      endTurn();
    }
  }

  /** The cached result, or that of a running query. */
  #cachedOrRunning<Value>(key: string, signal: AbortSignal): Promise<Value> | undefined {
    const cachedResult = this.#cache.get(key);
    if (cachedResult !== undefined && this.#system.monotonic() < cachedResult.until)
      return cachedResult.result as Promise<Value>;
    const runningQuery = this.#runningQueries.get(key);
    return runningQuery === undefined ? undefined : this.#join(runningQuery as Query<Value>, signal);
  }

  #start<Value>(name: string, key: string, runQuery: RunQuery<Value>): Query<Value> {
    const queryScope = new AbortController();
    let code: string | undefined;
    const cancelTimeout = this.#system.after(QUERY_TIMEOUT_MS, () => {
      code = "ETIMEOUT";
      queryScope.abort();
    });
    const result = runQuery(name, queryScope.signal).catch((cause: unknown) => {
      throw new LookupFailed(name, code ?? codeOf(cause), { cause });
    });
    const query: Query<Value> = {
      result,
      waiters: 0,
      cancel: () => {
        if (this.#runningQueries.get(key) === query) this.#runningQueries.delete(key);
        queryScope.abort();
      },
    };
    this.#runningQueries.set(key, query);
    const cacheResult = (cacheMs: number): void => {
      cancelTimeout();
      if (this.#runningQueries.get(key) !== query) return; // cancelled
      this.#runningQueries.delete(key);
      this.#cache.set(key, { result, until: this.#system.monotonic() + cacheMs });
    };
    result.then(
      () => cacheResult(CACHE_MS),
      () => cacheResult(FAILURE_CACHE_MS),
    );
    return query;
  }

  /** Waits for a query until the signal is aborted. */
  async #join<Value>(query: Query<Value>, signal: AbortSignal): Promise<Value> {
    query.waiters++;
    let onAbort = (): void => {};
    const abortPromise = new Promise<never>((_, reject) => {
      onAbort = () => reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
    });
    try {
      signal.throwIfAborted();
      return await Promise.race([query.result, abortPromise]);
    } finally {
      signal.removeEventListener("abort", onAbort);
      if (--query.waiters === 0) query.cancel();
    }
  }
}

type RunQuery<Value> = (name: string, signal: AbortSignal) => Promise<Value>;

/** The name to query: in lower case, without a trailing dot. Undefined if it is not a valid host name. */
function nameOf(host: string): string | undefined {
  const name = host.toLowerCase().replace(/\.$/, "");
  return name === "" || name.length > MAX_NAME_LENGTH ? undefined : name;
}

function codeOf(cause: unknown): string {
  const { code } = cause as { readonly code?: unknown };
  if (code === "TIMEOUT" || code === "ETIMEDOUT") return "ETIMEOUT";
  return typeof code === "string" ? code : "EFAILED";
}
