import dns from "node:dns/promises";
import { isIP } from "node:net";
import { BoundedMap, CodedError, type System, within } from "../ports.ts";
import type { Hop } from "./transport.ts";

/** A SIP client's DNS queries (RFC 3263). Default: the runtime's resolver. */
export interface Dns {
  /** NAPTR records of a domain; empty if there are none. */
  naptr(
    domain: string,
  ): Promise<readonly { order: number; preference: number; service: string; replacement: string }[]>;
  /** SRV records; empty if there are none. */
  srv(name: string): Promise<readonly { priority: number; weight: number; name: string; port: number }[]>;
  /** IPv4 and IPv6 addresses of a host, in the order to try; empty if there are none. */
  addresses(host: string): Promise<readonly string[]>;
}

/** Resolves a URI to a request's hops, best first (RFC 3263 section 4, RFC 2782 for the weights). */
export type Resolve = (uri: string, signal: AbortSignal) => Promise<readonly Hop[]>;

/** Resolver error codes for a name or record that does not exist. */
const NOT_FOUND_CODES = new Set(["ENOTFOUND", "ENODATA", "NOTFOUND", "NODATA", "NXDOMAIN", "EAI_NODATA", "EAI_NONAME"]);

/** The runtime's resolver. Addresses come from the system's resolver and its hosts file; other records from the DNS. */
export const nodeDns: Dns = {
  async naptr(domain) {
    // Not every runtime supports NAPTR; SRV records work without it (RFC 3263 section 4.1).
    if (typeof dns.resolveNaptr !== "function") return [];
    return noneIfMissing(dns.resolveNaptr(domain));
  },
  srv(name) {
    return noneIfMissing(dns.resolveSrv(name));
  },
  async addresses(host) {
    if (isIP(host) !== 0) return [host];
    const records = await noneIfMissing(dns.lookup(host, { all: true }));
    return records.map(({ address }) => address);
  },
};

async function noneIfMissing<Item>(answer: Promise<Item[]>): Promise<Item[]> {
  try {
    return await answer;
  } catch (cause) {
    if (NOT_FOUND_CODES.has((cause as { code?: string }).code ?? "")) return [];
    throw cause;
  }
}

/** Options of {@link cachedDns}. */
export interface CachedDnsOptions {
  /**
   * Time for which a DNS answer is cached, regardless of its TTL, ms: calls in quick succession share it, and changes still take effect
   * soon. 0 if `dns` itself has a cache. Default: 30 s.
   */
  readonly keepMs?: number | undefined;
}

const KEEP_MS = 30_000;
/** Time for which a stale answer is used if the DNS fails (RFC 8767 section 5 suggests one to three days), ms. */
const STALE_MS = 24 * 3_600_000;
const MAX_QUESTIONS = 512;
/** Timeout for NAPTR and SRV queries, and for every query that has a stale answer, ms. */
const SHORT_TIMEOUT_MS = 1_500;
/** Timeout for address queries, which every call needs; shorter than the timeout of a trunk's probe, ms. */
const TIMEOUT_MS = 4_000;

/** The runtimes' error codes for a query that timed out. */
const TIMEOUT_CODES: ReadonlySet<unknown> = new Set(["ETIMEOUT", "ETIMEDOUT", "TIMEOUT"]);

/** A query that got no response. */
class UnansweredQuery extends CodedError {
  override readonly name = "Unanswered";
  readonly code = "unanswered";
}

interface Question<Value> {
  /** The last answer. */
  answer?: { readonly value: Value; readonly at: number };
  /** The pending query; a query that has been pending for long is repeated. */
  running?: { readonly answer: Promise<Value>; readonly at: number };
  /** Time until which the query fails immediately, because it has timed out. */
  silence?: { readonly until: number; readonly fault: unknown };
}

/**
 * Caches DNS answers. If a query fails, its last answer is used for a day; without one the failure is reported. A
 * timeout is cached only for NAPTR and SRV records, which are optional, so that no call waits for a silent resolver
 * twice.
 */
export function cachedDns(dns: Dns, system: System, { keepMs = KEEP_MS }: CachedDnsOptions = {}): Dns {
  const questions = new BoundedMap<string, Question<unknown>>(MAX_QUESTIONS);

  async function query<Value>(key: string, send: () => Promise<Value>, isOptional: boolean): Promise<Value> {
    const question = (questions.get(key) ?? {}) as Question<Value>;
    questions.set(key, question);
    const now = system.monotonic();
    const { answer, silence } = question;
    if (answer !== undefined && now < answer.at + keepMs) return answer.value;
    const staleAnswer = answer !== undefined && now < answer.at + STALE_MS ? answer : undefined;
    try {
      if (silence !== undefined && now < silence.until) throw silence.fault;
      const timeoutMs = isOptional || staleAnswer !== undefined ? SHORT_TIMEOUT_MS : TIMEOUT_MS;
      const createTimeoutError = (): Error =>
        new UnansweredQuery(`no answer to the query for ${key} within ${timeoutMs} ms`);
      return await within(sharedQuery(question, send), { system, ms: timeoutMs, timeoutError: createTimeoutError });
    } catch (fault) {
      if (fault !== silence?.fault && isTimeout(fault) && (isOptional || staleAnswer !== undefined))
        question.silence = { until: now + KEEP_MS, fault };
      if (staleAnswer === undefined) throw fault;
      return staleAnswer.value;
    }
  }

  /** Concurrent queries for the same question are shared; a late answer is cached for the next query. */
  function sharedQuery<Value>(question: Question<Value>, send: () => Promise<Value>): Promise<Value> {
    const at = system.monotonic();
    if (question.running !== undefined && at < question.running.at + KEEP_MS) return question.running.answer;
    const runningQuery = { answer: send(), at };
    question.running = runningQuery;
    runningQuery.answer
      .then(
        (value) => {
          question.answer = { value, at: system.monotonic() };
        },
        () => {}, // reported to the callers
      )
      .finally(() => {
        if (question.running === runningQuery) delete question.running;
      });
    return runningQuery.answer;
  }

  return {
    naptr: (domain) => query(`NAPTR ${domain}`, () => dns.naptr(domain), true),
    srv: (name) => query(`SRV ${name}`, () => dns.srv(name), true),
    addresses: (host) => query(`address ${host}`, () => dns.addresses(host), false),
  };
}

function isTimeout(fault: unknown): boolean {
  return (
    fault instanceof UnansweredQuery || TIMEOUT_CODES.has((fault as { readonly code?: unknown } | undefined)?.code)
  );
}
