import type { System } from "../../../../src/ports/system.ts";
import { NewestMap } from "../newest-map.ts";
import type { Dns } from "./resolve.ts";

/** How long an answer is cached, whatever the DNS says about it: calls of one second share it, a move is soon followed, ms. */
const KEEP_MS = 30_000;
/** How long an answer counts if the DNS fails after it (RFC 8767 section 5 suggests one to three days), ms. */
const STALE_MS = 24 * 3_600_000;
const MOST_QUESTIONS = 512;
/** Patience for NAPTR and SRV records, and for everything of which there is an earlier answer, ms. */
const SHORT_PATIENCE_MS = 1_500;
/** Patience for addresses, without which there is no call; less than a probe of the trunk has, ms. */
const PATIENCE_MS = 4_000;

/** What the runtimes call a question that their resolver gave up. */
const TIMEOUTS: ReadonlySet<unknown> = new Set(["ETIMEOUT", "ETIMEDOUT", "TIMEOUT"]);

/** A question went unanswered. */
class Unanswered extends Error {
  override readonly name = "Unanswered";
}

interface Question<Value> {
  /** The last answer. */
  answer?: { readonly value: Value; readonly at: number };
  /** Under way since; one that is older is asked anew. */
  asked?: { readonly answer: Promise<Value>; readonly at: number };
  /** It went unanswered: until then nobody waits for it again. */
  silence?: { readonly until: number; readonly fault: unknown };
}

/**
 * Asks each question once in a while. If it fails, the last answer counts for a day. Without one the failure is
 * reported; only that NAPTR or SRV records went unanswered is kept, since names do without them: nobody waits for a
 * silent resolver twice.
 */
export function cachedDns(dns: Dns, system: System): Dns {
  const questions = new NewestMap<string, Question<unknown>>(MOST_QUESTIONS);

  async function ask<Value>(key: string, put: () => Promise<Value>, optional: boolean): Promise<Value> {
    const question = (questions.get(key) ?? {}) as Question<Value>;
    questions.set(key, question);
    const now = system.monotonic();
    const { answer, silence } = question;
    if (answer !== undefined && now < answer.at + KEEP_MS) return answer.value;
    const earlier = answer !== undefined && now < answer.at + STALE_MS ? answer : undefined;
    try {
      if (silence !== undefined && now < silence.until) throw silence.fault;
      const patienceMs = optional || earlier !== undefined ? SHORT_PATIENCE_MS : PATIENCE_MS;
      return await within(underWay(question, put), patienceMs, system, key);
    } catch (fault) {
      if (fault !== silence?.fault && isTimeout(fault) && (optional || earlier !== undefined))
        question.silence = { until: now + KEEP_MS, fault };
      if (earlier === undefined) throw fault;
      return earlier.value;
    }
  }

  /** The same question is not put twice at a time; what it brings after everybody has left serves the next who asks. */
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
        () => {}, // reported to whoever waits
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

function within<Value>(answer: Promise<Value>, ms: number, system: System, question: string): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = system.after(ms, () =>
      reject(new Unanswered(`no answer to the question for ${question} within ${ms} ms`)),
    );
    answer.then(resolve, reject).finally(stop);
  });
}
