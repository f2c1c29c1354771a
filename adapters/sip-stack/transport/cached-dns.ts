import { BoundedMap, CodedError, type System, within } from "../ports.ts";
import type { Dns } from "./resolve.ts";

/** Options of {@link cachedDns}. */
export interface CachedDnsOptions {
  /**
   * How long an answer is cached, whatever its TTL, ms: calls in quick succession share it, and a change is noticed soon.
   * 0 if `dns` itself has a cache. Default: 30 s.
   */
  readonly keepMs?: number | undefined;
}

const KEEP_MS = 30_000;
/** How long a stale answer is used if the DNS fails (RFC 8767 section 5 suggests one to three days), ms. */
const STALE_MS = 24 * 3_600_000;
const MOST_QUESTIONS = 512;
/** The timeout for NAPTR and SRV records, and for every question with a stale answer, ms. */
const SHORT_PATIENCE_MS = 1_500;
/** The timeout for addresses, which a call cannot do without; shorter than that of a trunk's probe, ms. */
const PATIENCE_MS = 4_000;

/** Error codes of the runtimes for a query that timed out. */
const TIMEOUTS: ReadonlySet<unknown> = new Set(["ETIMEOUT", "ETIMEDOUT", "TIMEOUT"]);

/** A question went unanswered. */
class Unanswered extends CodedError {
  override readonly name = "Unanswered";
  readonly code = "unanswered";
}

interface Question<Value> {
  /** The last answer. */
  answer?: { readonly value: Value; readonly at: number };
  /** The query under way; an old one is repeated. */
  asked?: { readonly answer: Promise<Value>; readonly at: number };
  /** The query timed out: until then it fails at once. */
  silence?: { readonly until: number; readonly fault: unknown };
}

/**
 * Caches the answers of the DNS. If a query fails, its last answer is used for a day; without one the failure is reported.
 * A timeout is cached only for NAPTR and SRV records, which are optional: nothing waits for a silent resolver twice.
 */
export function cachedDns(dns: Dns, system: System, { keepMs = KEEP_MS }: CachedDnsOptions = {}): Dns {
  const questions = new BoundedMap<string, Question<unknown>>(MOST_QUESTIONS);

  async function ask<Value>(key: string, put: () => Promise<Value>, optional: boolean): Promise<Value> {
    const question = (questions.get(key) ?? {}) as Question<Value>;
    questions.set(key, question);
    const now = system.monotonic();
    const { answer, silence } = question;
    if (answer !== undefined && now < answer.at + keepMs) return answer.value;
    const earlier = answer !== undefined && now < answer.at + STALE_MS ? answer : undefined;
    try {
      if (silence !== undefined && now < silence.until) throw silence.fault;
      const patienceMs = optional || earlier !== undefined ? SHORT_PATIENCE_MS : PATIENCE_MS;
      const late = (): Error => new Unanswered(`no answer to the query for ${key} within ${patienceMs} ms`);
      return await within(underWay(question, put), { system, ms: patienceMs, late });
    } catch (fault) {
      if (fault !== silence?.fault && isTimeout(fault) && (optional || earlier !== undefined))
        question.silence = { until: now + KEEP_MS, fault };
      if (earlier === undefined) throw fault;
      return earlier.value;
    }
  }

  /** Concurrent queries for the same question share one; a late answer is cached for the next query. */
  function underWay<Value>(question: Question<Value>, put: () => Promise<Value>): Promise<Value> {
    const at = system.monotonic();
    if (question.asked !== undefined && at < question.asked.at + KEEP_MS) return question.asked.answer;
    const asked = { answer: put(), at };
    question.asked = asked;
    asked.answer
      .then(
        (value) => {
          question.answer = { value, at: system.monotonic() };
        },
        () => {}, // reported to the callers
      )
      .finally(() => {
        if (question.asked === asked) delete question.asked;
      });
    return asked.answer;
  }

  return {
    naptr: (domain) => ask(`NAPTR ${domain}`, () => dns.naptr(domain), true),
    srv: (name) => ask(`SRV ${name}`, () => dns.srv(name), true),
    addresses: (host) => ask(`address ${host}`, () => dns.addresses(host), false),
  };
}

function isTimeout(fault: unknown): boolean {
  return fault instanceof Unanswered || TIMEOUTS.has((fault as { readonly code?: unknown } | undefined)?.code);
}
